/// 95 % reads, 5 % updates.
struct YCSBReadMostly: YCSBScenario {
    let slug = "ycsb-b"
    let question = "How fast are reads with few updates between them (YCSB B)?"
    let mix = KeyedMix.b
}
