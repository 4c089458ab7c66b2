/// The first words of a page: the answer as a sentence, and how good it is.
struct Headline {
    var tone: PageAnswer.Tone
    var sentence: String
    /// Lines below it, in small type.
    var more: [String] = []

    func write(_ markup: inout Markup) {
        markup.element("p", ["class": "headline \(tone.rawValue)"]) { headline in
            headline.element("b", ["aria-hidden": "true"], tone.symbol)
            headline.element("span") { words in
                words.add(sentence)
                for line in more where !line.isEmpty {
                    words.element("small", line.prefix(1).uppercased() + line.dropFirst())
                }
            }
        }
    }
}
