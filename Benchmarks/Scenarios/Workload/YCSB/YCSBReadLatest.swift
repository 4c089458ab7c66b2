/// 95 % reads of what was inserted last, 5 % inserts.
struct YCSBReadLatest: YCSBScenario {
    let slug = "ycsb-d"
    let question = "How fast is what was inserted last read again (YCSB D)?"
    let mix = KeyedMix.d
}
