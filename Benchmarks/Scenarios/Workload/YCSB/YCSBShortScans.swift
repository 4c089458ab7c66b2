/// 95 % scans of up to a hundred rows, 5 % inserts.
struct YCSBShortScans: YCSBScenario {
    let slug = "ycsb-e"
    let question = "How fast are short ranges of rows read while rows are inserted (YCSB E)?"
    let mix = KeyedMix.e
}
