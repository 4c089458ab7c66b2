/// The style of tables: each scrolls in its own box, with a head and a first column that stay in view.
enum TableStyle {
    static let text = """
        .scroll { overflow: auto; max-height: min(76vh, 900px); margin: 6px 0 }
        table { border-collapse: collapse; font-size: 13.5px; min-width: 40% }
        caption { text-align: left; color: var(--soft); font-size: 13px; padding: 6px 0 2px }
        th, td { padding: 5px 14px 5px 0; text-align: left; vertical-align: baseline;
          border-bottom: 1px solid var(--line) }
        th:last-child, td:last-child { padding-right: 4px }
        thead th { color: var(--soft); font-weight: 500; font-size: 12.5px; vertical-align: bottom }
        tbody th { font-weight: 500 }
        .scroll thead th { position: sticky; top: 0; background: var(--bg); z-index: 2;
          box-shadow: inset 0 -1px var(--faint) }
        .scroll tbody th, .scroll thead th:first-child { position: sticky; left: 0; background: var(--bg) }
        .scroll tbody th { z-index: 1; min-width: 190px; max-width: 300px }
        .scroll thead th:first-child { z-index: 3 }
        .scroll thead tr + tr th { top: 27px }
        td.n, th.n { text-align: right; white-space: nowrap }
        td.words { min-width: 17em }
        td.n a { color: inherit }
        td small { display: inline-block; color: var(--faint); font-size: 12px; margin-left: .5em }
        td small.up { color: var(--good) }
        td small.down { color: var(--bad) }
        small.spread { margin-left: .5em; color: var(--faint); font-size: 12px }
        th small { color: var(--faint); font-weight: 400; font-size: 12px }
        .zero { color: var(--faint) }
        tbody tr:hover, tbody tr:hover th { background: var(--raised) }
        .cells thead th[colspan] { text-align: center }
        .cells td small { display: block; white-space: nowrap; margin: 0 }
        .cells td .v { display: block }
        .group th { padding-top: 12px; color: var(--ink); font-weight: 600 }
        .scroll .group th { max-width: none }
        .group span { position: sticky; left: 0 }
        .group:hover, .group:hover th { background: none }
        .of, .sorted .group, .untuned .tuned { display: none }
        .sorted .of { display: block; color: var(--soft); font-size: 12.5px }
        .family th { padding-top: 14px; color: var(--faint); font-weight: 500; font-size: 12.5px }
        .family:hover, .family:hover th { background: none }
        thead button { border: 0; padding: 0; background: none; color: inherit; font: inherit; text-align: inherit }
        thead button::after { content: ""; display: inline-block; width: 1em }
        th.n button::after { width: 0 }
        [aria-sort=ascending] button::after { content: "\\2191"; width: 1em }
        [aria-sort=descending] button::after { content: "\\2193"; width: 1em }
        .environment { display: grid; grid-template-columns: max-content 1fr; gap: 6px 18px; margin: 10px 0 0;
          font-size: 13.5px }
        .environment dd { margin: 0; color: var(--ink); overflow-wrap: anywhere }
        .environment dt { color: var(--faint) }
        .settings span { display: inline-block; margin-right: 18px }
        .settings i { font-style: normal; color: var(--soft) }
        .missing .v { margin: 0 4px 6px 0 }

        .v { display: inline-block; white-space: nowrap; font-size: 12.5px; line-height: 1.5; padding: 0 8px 0 6px;
          border-radius: 4px; background: var(--calmbg); color: var(--calm) }
        .v b { display: inline-block; min-width: 1.1em; margin-right: .25em; text-align: center; font-weight: 600 }
        a.v:hover { text-decoration: none; box-shadow: 0 0 0 1px currentColor }
        .v-kept { background: var(--goodbg); color: var(--good) }
        .v-broken { background: var(--badbg); color: var(--bad); font-weight: 600 }
        .v-unanswered { background: var(--doubtbg); color: var(--doubt) }
        .v-skipped { background: none; color: var(--faint) }
        .t-broken { color: var(--bad); font-weight: 600 }
        .t-kept b { color: var(--good) }
        .t-ahead { color: var(--good) }
        .t-behind { color: var(--bad) }
        .t-same, .t-open { color: var(--soft) }
        .t-unanswered { color: var(--doubt) }
        """
}

/// The style of the list of cases, each of which unfolds to its figures.
enum CaseStyle {
    static let text = """
        .tools { display: flex; flex-wrap: wrap; gap: 10px 16px; align-items: center; margin: 8px 0; font-size: 13.5px }
        #case-count { color: var(--soft) }
        .case { border-bottom: 1px solid var(--line) }
        .case > summary { display: grid; align-items: baseline; list-style: none; padding: 5px 0; color: var(--ink);
          grid-template-columns: 8.5em minmax(0, 1fr) 8em 5em 9em 6em; gap: 0 12px }
        .case > summary::-webkit-details-marker { display: none }
        .case > summary:hover { background: var(--raised) }
        .case b { font-weight: 500 }
        .case small { color: var(--faint); font-size: 12.5px }
        .c4 { color: var(--soft) }
        .c5, .c6 { text-align: right; white-space: nowrap }
        .c6 { color: var(--faint) }
        .case .body { padding: 6px 0 22px 8.5em }
        .case .body .facts { margin: 10px 0; line-height: 1.8 }
        .case .body .facts span { margin-right: 16px; overflow-wrap: anywhere }
        .case:target > summary { background: var(--calmbg) }
        .message { max-width: 84ch; overflow-wrap: anywhere }
        .figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(250px, 1fr)); gap: 0 32px;
          margin: 12px 0 0; font-size: 13px }
        .figures div { display: flex; justify-content: space-between; gap: 12px; border-bottom: 1px solid var(--line);
          padding: 3px 0 }
        .figures dt { color: var(--soft) }
        .figures dd { margin: 0; white-space: nowrap }
        """
}
