/// The style of a page's frame: the head, the navigation beside the text, sections, folds and words.
enum PageStyle {
    static let text = """
        * { box-sizing: border-box }
        html { scroll-padding-top: 1rem }
        body {
          margin: 0; background: var(--bg); color: var(--ink);
          font: 15px/1.5 -apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans",
            Arial, sans-serif;
          font-variant-numeric: tabular-nums lining-nums; -webkit-text-size-adjust: 100%;
        }
        .top, .frame, body > main { max-width: 1860px; margin: 0 auto; padding: 0 24px }
        .top { padding-top: 16px; padding-bottom: 8px; display: flex; flex-wrap: wrap; align-items: baseline;
          gap: 2px 18px }
        .skip { position: absolute; left: -999px; padding: 8px 14px; background: var(--bg); z-index: 9 }
        .skip:focus { left: 8px; top: 8px }

        .frame { display: grid; grid-template-columns: 188px minmax(0, 1fr); gap: 0 28px; align-items: start }
        .side { position: sticky; top: 0; max-height: 100vh; overflow-y: auto; padding: 10px 2px 16px }
        .side .tools { display: flex; flex-wrap: wrap; gap: 6px; margin-bottom: 10px }
        #search { width: 100% }
        #found { color: var(--soft); font-size: 12.5px; flex: 1; align-self: center }
        nav { display: flex; flex-wrap: wrap; gap: 4px 20px; font-size: 14px }
        .side nav { flex-direction: column; flex-wrap: nowrap; gap: 0 }
        .side nav a { display: flex; justify-content: space-between; padding: 3px 6px; border-radius: 4px }
        .side nav a:hover { background: var(--raised); text-decoration: none }
        .side nav a[aria-current] { background: var(--calmbg); color: var(--ink) }
        .side nav small { color: var(--faint); font-size: 12px }
        .keys { color: var(--faint); font-size: 12px; margin: 12px 6px 0; line-height: 1.9 }
        kbd { font: inherit; border: 1px solid var(--line); border-radius: 3px; padding: 0 4px; color: var(--soft) }

        h1 { font-size: 20px; font-weight: 600; letter-spacing: -.01em; margin: 0 }
        h2 { font-size: 22px; font-weight: 600; letter-spacing: -.01em; margin: 0 0 10px; text-wrap: balance }
        h3 { font-size: 15px; font-weight: 600; margin: 20px 0 6px }
        h4 { font-size: 13px; font-weight: 600; margin: 18px 0 4px; color: var(--soft) }
        section { padding: 22px 0; border-top: 1px solid var(--line) }
        main > section:first-child { border-top: 0; padding-top: 8px }
        section[hidden], [hidden] { display: none !important }
        p { margin: 0 0 10px }
        .sentence { max-width: 92ch }
        a { color: var(--link); text-decoration: none }
        a:hover { text-decoration: underline }
        :is(a, button, summary, input, select, .scroll, .heat-box):focus-visible {
          outline: 2px solid var(--link); outline-offset: 2px;
        }
        code, pre { font: 12.5px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace }
        pre { background: var(--raised); padding: 12px; overflow: auto; max-height: 22em; white-space: pre-wrap;
          overflow-wrap: anywhere }
        sup { font-size: 10px; line-height: 0 }
        .faint { color: var(--faint); font-weight: 400 }
        .note code { white-space: nowrap }
        .note { color: var(--soft); font-size: 13.5px; max-width: 92ch }
        .bad { color: var(--bad); font-weight: 600 }
        .facts { color: var(--soft); font-size: 13.5px; margin: 0 }
        .facts i { color: var(--faint); font-style: normal }
        button, select, input { font: inherit; color: inherit; background: var(--bg);
          border: 1px solid var(--faint); border-radius: 5px; padding: 3px 10px }
        button { cursor: pointer }
        button:hover { border-color: var(--ink) }
        .chip { font-size: 12.5px; padding: 1px 10px; border-radius: 11px; color: var(--soft); margin: 2px 0 }
        .chip[aria-pressed=true] { background: var(--calmbg); color: var(--ink) }
        #theme { font-size: 13px; color: var(--soft) }

        .fold { margin: 8px 0 }
        summary { cursor: pointer; color: var(--soft); font-size: 13.5px }
        .fold > summary { display: inline-block; padding: 3px 10px; border-radius: 5px; background: var(--raised);
          color: var(--ink) }
        .fold > summary::before { content: "\\25B8"; color: var(--soft); margin-right: 6px }
        .fold[open] > summary::before { content: "\\25BE" }
        .fold > summary small { color: var(--faint) }

        .warnings { padding: 10px 16px; margin: 6px 0; border: 1px solid var(--doubt) !important; border-radius: 6px;
          background: var(--doubtbg) }
        .warnings ul { margin: 0; padding: 0; list-style: none }
        .warnings strong { color: var(--doubt); font-size: 13px }

        .cmd { display: block; max-width: 100%; text-align: left; background: var(--raised);
          border-color: transparent; padding: 3px 10px; margin: 4px 0; overflow-wrap: anywhere }
        p .cmd, .inline .cmd { display: inline-block; margin: 0 }
        .cmd.done::after, .copy.done::after { content: " copied"; color: var(--good); font-size: 12px }
        .copy { font-size: 12px; padding: 1px 8px; color: var(--soft) }
        """

    /// On a narrow page the navigation is a scrolling strip above the text.
    static let narrow = """
        @media (max-width: 999px) {
          .frame { display: block }
          .side { z-index: 5; display: flex; align-items: center; gap: 10px; background: var(--bg); max-height: none;
            border-bottom: 1px solid var(--line); padding: 6px 28px 6px 0; margin-bottom: 6px; overflow-x: auto;
            mask-image: linear-gradient(to left, transparent, #000 28px) }
          .side .tools { flex-wrap: nowrap; margin: 0 }
          #search { width: 8.5em }
          .side nav { flex-direction: row; white-space: nowrap }
          .side nav a { gap: 4px }
          .keys, #found:empty { display: none }
          html { scroll-padding-top: 60px }
          .answer { grid-template: "status" "picture" "reasons" / minmax(0, 1fr) }
          .heat-box { max-height: 90vh }
        }
        @media (max-width: 720px) {
          .top, .frame, body > main { padding-left: 14px; padding-right: 14px }
          h2 { font-size: 19px }
          .headline { font-size: 16px; padding: 10px 12px }
          .case > summary { grid-template-columns: auto 1fr auto; gap: 2px 10px }
          .c2 { grid-column: 1/-1; grid-row: 1 }
          .c4 { display: none }
          .c6 { grid-column: 3 }
          .c5 { grid-column: 1/3; text-align: left; color: var(--soft) }
          .case .body { padding-left: 0 }
          .scroll tbody th { min-width: 110px; max-width: 150px; overflow-wrap: anywhere }
          .heat tbody th { position: sticky; left: 0; background: var(--bg); z-index: 1; white-space: normal;
            max-width: 104px; line-height: 1.25 }
          .heat td { min-width: 34px }
          .heat-box { padding-right: 20px; mask-image: linear-gradient(to left, transparent, #000 20px) }
          .heat caption { width: calc(100vw - 28px) }
          .legend, .environment, .glance { grid-template-columns: minmax(0, 1fr); gap: 2px }
          .legend dd, .environment dd, .glance dd { margin-bottom: 8px }
          .questions tr { display: block; border-bottom: 1px solid var(--line); padding: 4px 0 }
          .questions th, .questions td { display: block; border: 0; padding: 1px 0 }
        }
        """
}
