/// The style of the drawing of a profile.
enum FlameStyle {
    static var text: String {
        let light = ColourStyle.flames.map { "--\($0.name):\($0.light)" }.joined(separator: ";")
        let dark = ColourStyle.flames.map { "--\($0.name):\($0.dark)" }.joined(separator: ";")
        let classes = ColourStyle.flames.indices.map { ".fl\($0) { background: var(--flame\($0)) }" }
        return """
            :root { \(light) }
            @media (prefers-color-scheme: dark) { :root:not([data-theme=light]) { \(dark) } }
            :root[data-theme=dark] { \(dark) }
            .flame { position: relative; overflow: hidden; margin: 4px 0 10px }
            .fl { position: absolute; height: 17px; min-width: 0; padding: 0 3px; border: 0; border-radius: 1px;
              box-shadow: inset -1px 0 var(--bg); color: var(--ink); text-align: left; overflow: hidden;
              white-space: nowrap; text-overflow: ellipsis; font: 11.5px/17px ui-monospace, Menlo, Consolas,
              "Liberation Mono", monospace }
            .fl.all { background: var(--raised) }
            .fl:hover { box-shadow: inset 0 0 0 1px var(--ink) }
            .flame .fl:focus-visible { outline: 2px solid var(--ink); outline-offset: -2px }
            .fl.dim { opacity: .3 }
            #flame-box { display: block; min-height: 3em; overflow-wrap: anywhere }
            .tools #search { width: 16em; max-width: 60vw }
            @media print { :root, :root[data-theme] { \(light) } }
            \(classes.joined(separator: "\n"))
            """
    }
}

extension ColourStyle {
    /// Warm colours of equal lightness, on which the text can be read.
    static let flames: [Named] = [
        ("flame0", "#f6d7b0", "#5a3a1e"), ("flame1", "#f0b98a", "#6b4523"), ("flame2", "#e9d18a", "#57491c"),
        ("flame3", "#e8b95c", "#66501a"), ("flame4", "#e3a487", "#66392a"), ("flame5", "#f2ccc0", "#5c3d3a"),
        ("flame6", "#d9c6a0", "#4a4230"), ("flame7", "#eec3a2", "#573626"),
    ]
}
