/// The style of the first screen: verdict, findings, questions, bars of shares and the map of faults.
enum AnswerStyle {
    static let text = """
        .answer { display: grid; grid-template-columns: minmax(0, 2.1fr) minmax(280px, 1fr); gap: 6px 32px;
          grid-template-areas: "picture status" "picture reasons"; grid-template-rows: auto 1fr; align-items: start }
        .answer .status { grid-area: status }
        .answer .picture { grid-area: picture }
        .answer .reasons { grid-area: reasons }
        .answer .charts { grid-template-columns: repeat(auto-fill, minmax(min(100%, 280px), 1fr)); gap: 16px 24px }
        .headline { display: flex; gap: 12px; align-items: baseline; font-size: 17px; font-weight: 600;
          line-height: 1.35; padding: 11px 15px; border-radius: 6px; margin-bottom: 8px }
        .headline small { display: block; font-size: 13.5px; font-weight: 400; margin-top: 2px }
        .headline.good { color: var(--good); background: var(--goodbg) }
        .headline.bad { color: var(--bad); background: var(--badbg) }
        .headline.calm { color: var(--calm); background: var(--calmbg); overflow-wrap: anywhere }
        .headline.doubt { color: var(--doubt); background: var(--doubtbg) }

        .findings, .causes, .answers { list-style: none; padding: 0; margin: 0 0 8px }
        .findings > li { padding: 3px 0; font-size: 14px }
        .findings summary { color: var(--ink); font-size: 14px }
        .findings small { color: var(--faint) }
        .causes li { padding: 7px 0 7px 14px; border-bottom: 1px solid var(--line); font-size: 13.5px;
          overflow-wrap: anywhere }
        .causes .outcome { font-weight: 600 }
        .causes .example { color: var(--soft); font-size: 13px; overflow-wrap: anywhere }
        .places { margin-left: .7em; font-size: 13px }
        .answers { max-width: 92ch }
        .answers li { padding: 2px 0; overflow-wrap: anywhere }
        .glance { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 8px 28px; margin: 12px 0 8px }
        .glance dd { margin: 0 }

        .stands { display: grid; grid-template-columns: repeat(auto-fit, minmax(270px, 1fr)); gap: 0 24px }
        .stand { margin-bottom: 8px; font-size: 14px }
        .stand p { margin: 0 0 3px }
        .stand .ends { color: var(--soft); font-size: 13px }
        .stand .ends span { margin-right: 8px }
        .share-bar { display: flex; gap: 2px; height: 14px; border-radius: 3px; overflow: hidden; margin: 3px 0 }
        .share-bar span { flex-basis: 0; min-width: 3px }
        .d-ahead, .b-kept { background: var(--good) }
        .d-behind, .b-broken { background: var(--bad) }
        .d-same, .d-falls { background: var(--calm) }
        .d-grows { background: var(--doubt) }
        .d-flat, .b-skipped { background: var(--line); box-shadow: inset 0 0 0 1px var(--faint) }
        .d-open, .b-unanswered { background: var(--doubt);
          background: repeating-linear-gradient(135deg, var(--faint) 0 3px, transparent 3px 6px) }
        .b-unprotected { background: var(--calm) }

        .questions { width: 100%; font-size: 13.5px; margin-top: 10px }
        .questions th { font-weight: 500; white-space: nowrap }
        .questions .bar-cell { width: 32% }
        .questions small { color: var(--doubt); display: block }

        .heat-box { overflow: auto; max-height: max(90vh, 800px) }
        .heat { border-collapse: separate; border-spacing: 2px; font-size: 12.5px; min-width: 0 }
        .heat th, .heat td { border: 0; padding: 0; vertical-align: middle; line-height: 19px }
        .heat thead th { font-size: 11.5px; padding: 0 3px; text-align: center; vertical-align: bottom;
          line-height: 1.2; position: sticky; top: 0; z-index: 2; background: var(--bg);
          box-shadow: 0 0 0 2px var(--bg) }
        .heat thead th:first-child { text-align: left }
        .heat tbody th { padding-right: 8px; white-space: nowrap; font-weight: 400; position: static }
        .heat td { text-align: center; min-width: 46px; height: 19px; border-radius: 3px; color: var(--faint) }
        .heat td a { display: block; height: 19px; color: inherit; overflow: hidden;
          white-space: nowrap; padding: 0 2px }
        .heat td a:hover { text-decoration: none; box-shadow: 0 0 0 2px var(--ink); border-radius: 3px }
        .heat .h-none { border: 1px dashed var(--faint) }
        .heat tbody tr:hover { background: none }
        .legend { display: grid; grid-template-columns: max-content 1fr; gap: 5px 18px; margin: 10px 0;
          font-size: 13.5px }
        .legend dt:target, .legend dt:target + dd { background: var(--calmbg) }
        .legend dd { margin: 0; color: var(--soft) }
        .swatch { display: inline-block; width: 12px; height: 12px; border-radius: 2px; margin-right: 8px }
        """
}
