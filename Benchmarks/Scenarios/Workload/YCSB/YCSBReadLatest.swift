/// 95 % reads of the most recently inserted rows, 5 % inserts.
struct YCSBReadLatest: YCSBScenario {
    let slug = "ycsb-d"
    let question = "How fast is what was inserted last read again (YCSB D)?"
    let mix = KeyedMix.d
}
