/// The style of drawings: charts, the forest plot, strips over files.
enum DrawingStyle {
    static let text = """
        .charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 320px), 1fr));
          gap: 22px 34px; margin: 10px 0 8px }
        figure { margin: 0; min-width: 0 }
        svg { display: block; width: 100%; height: auto; overflow: visible }
        .forest { margin: 10px 0 }
        .forest, .plots figure { container-type: inline-size }
        .fluid.slim, .fluid.roomy { display: none }
        @container (max-width: 619px) { .fluid.wide { display: none } .fluid.slim { display: block } }
        @container (min-width: 900px) { .fluid.wide { display: none } .fluid.roomy { display: block } }
        .witness { max-width: 704px; margin: 14px 0 }
        figcaption { font-size: 13.5px; margin-bottom: 4px; line-height: 1.4 }
        figcaption > span { display: block; color: var(--faint); font-size: 12.5px }
        figcaption b { font-weight: 500 }
        svg text { font-size: 11.5px; fill: var(--ink) }
        svg.at { width: 1px; height: 1px }
        .plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 640px), 1fr));
          gap: 24px 40px; margin: 12px 0 10px; align-items: start }
        .fluid text { font-size: 12px }
        .fluid a:hover text { text-decoration: underline }
        .band { fill: var(--faint); opacity: .25 }
        .one { stroke: var(--soft); fill: none }
        .wh { stroke-width: 1.6; fill: none }
        .wb { stroke: var(--ink); stroke-width: 1.2; fill: none; opacity: .75 }
        .again { stroke: var(--faint); stroke-width: 1.2; fill: none }
        .dot { stroke-width: 1.6 }
        .w-ahead { stroke: var(--good) }
        .w-behind { stroke: var(--bad) }
        .w-same { stroke: var(--soft) }
        .w-open { stroke: var(--faint) }
        .dot.w-ahead { fill: var(--good) }
        .dot.w-behind { fill: var(--bad) }
        .dot.w-same { fill: var(--soft) }
        .dot.w-open { fill: var(--bg) }
        svg text.t-ahead { fill: var(--good) }
        svg text.t-behind { fill: var(--bad) }
        svg text.t-same, svg text.t-open { fill: var(--soft) }
        svg .ax { fill: var(--soft) }
        svg .val, svg .ax, svg .lb { paint-order: stroke; stroke: var(--bg); stroke-width: 3px;
          stroke-linejoin: round }
        .gr { stroke: var(--line); fill: none }
        .tk { stroke: var(--faint); fill: none }
        .ring { fill: var(--bg); stroke-width: 1.6 }
        .lim { stroke: var(--soft); stroke-dasharray: 2 3; fill: none }
        .ln { fill: none; stroke-width: 2; stroke-linejoin: round }
        .lv { fill: none; stroke-width: 1; opacity: .75 }
        .ld { fill: none; stroke-width: .7; opacity: .6 }
        .pin { stroke: var(--doubt); stroke-width: 4; fill: none }
        .d1 { stroke-dasharray: 7 4 }
        .d2 { stroke-dasharray: 2 3 }
        .d3 { stroke-dasharray: 9 3 2 3 }
        .share { width: 120px; height: 10px; overflow: hidden; border-radius: 2px }
        .strips .share { width: 100%; height: 14px }
        .key { display: flex; flex-wrap: wrap; gap: 3px 14px; font-size: 12.5px; color: var(--soft); margin: 6px 0 }
        .key i { display: inline-block; width: 11px; height: 11px; margin-right: 5px; border-radius: 2px;
          vertical-align: -1px }
        """
}

/// The style on paper: always light, without folded parts, and with no part cut off at the edge.
enum PrintStyle {
    static let text = """
        @page { size: A4 landscape; margin: 11mm }
        @media print {
          :root, :root[data-theme] { color-scheme: light; \(ColourStyle.light) }
          @media (prefers-color-scheme: dark) {
            :root:not([data-theme=light]) { color-scheme: light; \(ColourStyle.light) }
          }
          * { print-color-adjust: exact; -webkit-print-color-adjust: exact }
          body { font-size: 10pt; background: #fff }
          .side, .skip, .tools, .chip, .copy { display: none }
          .frame { display: block; padding: 0 }
          .scroll, .heat-box, pre { overflow: visible; max-height: none }
          .scroll thead th, .scroll thead th:first-child, .scroll tbody th, .heat thead th {
            position: static; min-width: 0; max-width: none }
          details::details-content { content-visibility: visible; height: auto; display: block }
          table { font-size: 7.5pt; width: 100%; min-width: 0 }
          th, td, td.n, th.n { padding: 2px 5px 2px 0; white-space: normal; overflow-wrap: anywhere }
          thead { display: table-header-group }
          .untuned .tuned { display: table-cell }
          tr, figure, .case > summary, .findings > li > summary { break-inside: avoid }
          .case .body { padding-left: 0 }
          .charts { grid-template-columns: repeat(3, minmax(0, 1fr)) }
        }
        """
}
