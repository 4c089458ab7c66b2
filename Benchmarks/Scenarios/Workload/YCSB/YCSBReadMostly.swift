/// 95 % reads, 5 % updates.
struct YCSBReadMostly: YCSBScenario {
    let slug = "ycsb-b"
    let question = "How do engines bear reads with few updates between (YCSB B)?"
    let mix = KeyedMix.b
}
