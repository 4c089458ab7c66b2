/// 50 % reads, 50 % read-modify-writes.
struct YCSBReadModifyWrite: YCSBScenario {
    let slug = "ycsb-f"
    let question = "How fast are rows read, changed and written back (YCSB F)?"
    let mix = KeyedMix.f
}
