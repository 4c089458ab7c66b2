/// Reads alone.
struct YCSBReadOnly: YCSBScenario {
    let slug = "ycsb-c"
    let question = "How fast are single rows read when nobody writes (YCSB C)?"
    let mix = KeyedMix.c
}
