/// Only reads.
struct YCSBReadOnly: YCSBScenario {
    let slug = "ycsb-c"
    let question = "How fast are single rows read without writers (YCSB C)?"
    let mix = KeyedMix.c
}
