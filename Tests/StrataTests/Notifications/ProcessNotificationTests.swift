import Dispatch
import Foundation
import Strata
import Testing

/// Observers of another process's commits.
@Suite struct ProcessNotificationTests {
    @Test("cross-process-wake: a child's commits wake the parent, which gets the changes")
    func wake() async throws {
        let file = TemporaryFile()
        let path = file.url.path
        let queue = DispatchQueue(label: "parent")
        let seen = Locked<[[Int]]>([])
        let names = Locked<[String]>([])
        let complete = DispatchSemaphore(value: 0)
        let configuration = Realm.Configuration(fileURL: file.url, objectTypes: [Counter.self])
        let realm = try Realm(configuration: configuration)
        try realm.write { for id in 0..<100 { realm.add(Counter(id, "c\(id)")) } }
        let token = realm.objects(Counter.self).observe(on: queue) { change in
            guard case .update(let all, let deletions, let insertions, let modifications) = change else { return }
            seen.with { $0.append(deletions + [-1] + insertions + [-1] + modifications) }
            if all.contains(where: { $0.id == 1000 }) {
                names.with { $0 = [all.last?.name ?? "", "\(all.count)", all[6].name] }
                complete.signal()
            }
        }
        await #expect(processExitsWith: .success) { [path = path as String] in
            let configuration = Realm.Configuration(
                fileURL: URL(fileURLWithPath: path), objectTypes: [Counter.self])
            let realm = try Realm(configuration: configuration)
            try realm.write {
                realm.delete(realm.objects(Counter.self)[3])
                realm.objects(Counter.self)[6].name = "changed"
                realm.add(Counter(1000, "child"))
            }
        }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                complete.wait()
                continuation.resume()
            }
        }
        #expect(names.current == ["child", "100", "changed"])
        #expect(seen.current == [[3, -1, 99, -1, 7]])
        token.invalidate()
        withExtendedLifetime((file, realm)) {}
    }
}
