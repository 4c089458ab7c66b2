/// 50 % reads, 50 % updates.
struct YCSBUpdateHeavy: YCSBScenario {
    let slug = "ycsb-a"
    let question = "How fast are half reads and half updates of single rows (YCSB A)?"
    let mix = KeyedMix.a
}
