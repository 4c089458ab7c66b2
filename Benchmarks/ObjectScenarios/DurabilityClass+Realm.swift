import RunRecords
import Strata

extension DurabilityClass {
    var ofRealm: Realm.Configuration.Durability {
        switch self {
        case .full: .full
        case .periodic: .periodic
        case .none: .none
        }
    }
}
