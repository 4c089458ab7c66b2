/// The report's style sheet. System fonts, figures of equal width, and colours by name so that light and dark differ
/// in one place.
enum ReportStyle {
    static var text: String {
        """
        :root{color-scheme:light;\(light)}
        @media(prefers-color-scheme:dark){:root:not([data-theme=light]){color-scheme:dark;\(dark)}}
        :root[data-theme=dark]{color-scheme:dark;\(dark)}
        \(page)
        \(parts)
        \(verdicts)
        \(drawings)
        \(small)
        """
    }

    private static let light = """
        --bg:#fdfdfc;--raised:#f6f6f3;--ink:#1c2024;--soft:#5a6068;--faint:#8b9098;--line:#e2e2dd;--link:#1f5fa8;\
        --good:#1a7346;--bad:#b3261e;--doubt:#8a5a00;--calm:#4a5a7a;--goodbg:#e6f3ec;--badbg:#fbe9e7;\
        --doubtbg:#fbf1dc;\
        --calmbg:#ebeef4;--e0:#0b62a8;--e1:#c2571a;--e2:#8a6d00;--e3:#177a5b;--e4:#8b3a8f;--e5:#5b6b1f;--e6:#a03a5c;\
        --e7:#8a8f96;--correct:#6fae8d;--detected:#5b93c7;--repaired:#3d8f8a;--fell:#a9b8c9;--refused:#8f9bb3;\
        --wrong:#c4291c;--lost:#7d1d5f;--crashed:#e07a1f;--hung:#caa21a;--memory:#8a6a4a;--size:#5c7a3a
        """

    private static let dark = """
        --bg:#15181b;--raised:#1d2125;--ink:#e3e5e7;--soft:#a3a9b0;--faint:#737a82;--line:#2c3136;--link:#7db4ee;\
        --good:#6cc795;--bad:#ff8a80;--doubt:#e5b95c;--calm:#a9b9d9;--goodbg:#17301f;--badbg:#3b1c1a;\
        --doubtbg:#352a12;\
        --calmbg:#222935;--e0:#6cb0f0;--e1:#f09a5f;--e2:#d6b94a;--e3:#5cc7a2;--e4:#cf8bd3;--e5:#a9bd63;--e6:#e087a5;\
        --e7:#8a9098;--correct:#4a8a69;--detected:#4d83b5;--repaired:#45a09a;--fell:#5f7183;--refused:#6c7892;\
        --wrong:#f25c4f;--lost:#c75ba6;--crashed:#f09a45;--hung:#dcbb45;--memory:#b08f6d;--size:#93b56a
        """

    private static let page = """
        *{box-sizing:border-box}
        html{scroll-padding-top:1rem}
        body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.55 -apple-system,BlinkMacSystemFont,\
        "Segoe UI",\
        Roboto,"Helvetica Neue","Liberation Sans",Arial,sans-serif;font-variant-numeric:tabular-nums lining-nums;\
        -webkit-text-size-adjust:100%}
        .top,main{max-width:1760px;margin:0 auto;padding:0 28px}
        .top{padding-top:36px}
        .brand{display:flex;align-items:baseline;justify-content:space-between;gap:1rem}
        h1{font-size:28px;font-weight:600;letter-spacing:-.01em;margin:0}
        h2{font-size:22px;font-weight:600;letter-spacing:-.01em;margin:0 0 14px}
        h3{font-size:16px;font-weight:600;margin:34px 0 10px}
        h4{font-size:13px;font-weight:600;margin:26px 0 4px;color:var(--soft)}
        section{padding:34px 0;border-top:1px solid var(--line)}
        main>section:first-child{border-top:0}
        p{margin:0 0 12px}
        a{color:var(--link);text-decoration:none}
        a:hover{text-decoration:underline}
        a:focus-visible,button:focus-visible,summary:focus-visible,input:focus-visible,select:focus-visible{\
        outline:2px solid var(--link);outline-offset:2px}
        code,pre{font:12.5px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace}
        pre{background:var(--raised);padding:12px;overflow:auto;max-height:22em;white-space:pre-wrap;\
        overflow-wrap:anywhere}
        .faint{color:var(--faint);font-weight:400}
        .note{color:var(--soft);font-size:13.5px;max-width:92ch}
        .bad{color:var(--bad);font-weight:600}
        nav{display:flex;flex-wrap:wrap;gap:4px 20px;padding:14px 0 10px;font-size:14px}
        .facts{color:var(--soft);font-size:13.5px;margin:6px 0 0}
        .facts i{color:var(--faint);font-style:normal}
        .top .facts i{padding:0 2px}
        button,select,input{font:inherit;color:inherit;background:var(--bg);border:1px solid var(--line);\
        border-radius:5px;\
        padding:3px 10px}
        button{cursor:pointer}
        button:hover{border-color:var(--faint)}
        #theme{font-size:13px;color:var(--soft)}
        """

    private static let parts = """
        .warnings{padding:14px 18px;margin-top:18px;border:1px solid var(--doubt);border-radius:6px;\
        background:var(--doubtbg)}
        .warnings ul{margin:0;padding:0;list-style:none}
        .warnings strong{color:var(--doubt);letter-spacing:.04em;font-size:13px}
        .headline{display:flex;gap:14px;align-items:baseline;font-size:24px;font-weight:600;line-height:1.3;\
        padding:16px 20px;border-radius:6px;letter-spacing:-.01em}
        .headline.good{color:var(--good);background:var(--goodbg)}
        .headline.bad{color:var(--bad);background:var(--badbg)}
        .headline.doubt{color:var(--doubt);background:var(--doubtbg)}
        .causes{list-style:none;padding:0;margin:0}
        .causes li{padding:9px 0;border-bottom:1px solid var(--line)}
        .causes .cmd{margin:6px 0 0}
        .causes .outcome{font-weight:600}
        .causes .example{color:var(--soft);font-size:13.5px;overflow-wrap:anywhere}
        .places{margin-left:.7em;font-size:13px}
        .answers{list-style:none;padding:0;margin:0 0 6px;max-width:84ch}
        .answers li{padding:2px 0}
        .glance{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:8px 28px;margin:20px 0 8px}
        .glance dd{margin:0}
        .cmd{display:block;max-width:100%;text-align:left;background:var(--raised);border-color:transparent;\
        padding:4px 10px;overflow-wrap:anywhere}
        p .cmd,.inline .cmd{display:inline-block;margin:0}
        .cmd+.note{margin-top:10px}
        .cmd.done::after,.copy.done::after{content:" copied";color:var(--good);font-size:12px}
        .copy{font-size:12px;padding:1px 8px;color:var(--soft)}
        .scroll{overflow-x:auto;margin:0 -4px;padding:0 4px}
        table{border-collapse:collapse;font-size:13.5px;min-width:40%}
        caption{text-align:left;color:var(--soft);font-size:13px;padding:14px 0 2px}
        th,td{padding:6px 14px 6px 0;text-align:left;vertical-align:baseline;border-bottom:1px solid var(--line)}
        th:last-child,td:last-child{padding-right:0}
        thead th{color:var(--soft);font-weight:500;font-size:12.5px;vertical-align:bottom;\
        border-bottom-color:var(--faint)}
        tbody th{font-weight:500}
        td.n,th.n{text-align:right;white-space:nowrap}
        td.n a{color:inherit}
        td small{display:inline-block;min-width:4.6em;color:var(--faint);font-size:12px}
        td small.up{color:var(--good)}
        td small.down{color:var(--bad)}
        td small.spread,dd small.spread{min-width:0;margin-left:.5em;color:var(--faint);font-size:12px}
        th small{color:var(--faint);font-weight:400;font-size:12px}
        .zero{color:var(--faint)}
        tbody tr:hover{background:var(--raised)}
        .cells thead th[colspan]{text-align:center;border-bottom-color:var(--line)}
        .cells td small{display:block;white-space:nowrap}
        .cells td .v{display:block}
        .family th{padding-top:18px;color:var(--faint);font-weight:500;font-size:12.5px}
        .family:hover{background:none}
        thead button{border:0;padding:0;background:none;color:inherit;font:inherit;text-align:inherit}
        thead button::after{content:"";display:inline-block;width:1em}
        th.n button::after{width:0}
        [aria-sort=ascending] button::after{content:"\\2191";width:1em}
        [aria-sort=descending] button::after{content:"\\2193";width:1em}
        .numbers,.legend{margin-top:20px}
        summary{cursor:pointer;color:var(--soft);font-size:13.5px}
        .filter{display:block;font-size:13.5px;margin:8px 0;width:min(100%,22em)}
        .legend dl,.environment{display:grid;grid-template-columns:max-content 1fr;gap:6px 18px;margin:10px 0 0;\
        font-size:13.5px}
        .legend dd,.environment dd{margin:0;color:var(--soft);overflow-wrap:anywhere}
        .environment dt{color:var(--faint)}
        .environment dd{color:var(--ink)}
        .settings span{display:inline-block;margin-right:18px}
        .settings i{font-style:normal;color:var(--soft)}
        .missing .v{margin:0 4px 6px 0}
        .tools{display:flex;flex-wrap:wrap;gap:10px 16px;align-items:center;margin-bottom:10px;font-size:13.5px}
        #case-filter{flex:1 1 16em;max-width:26em}
        #case-count{color:var(--soft)}
        .case{border-bottom:1px solid var(--line)}
        .case>summary{display:grid;grid-template-columns:9.5em minmax(0,1fr) 7em 5.5em 9em 6em;gap:0 12px;\
        padding:6px 0;\
        color:var(--ink);align-items:baseline;list-style:none}
        .case>summary::-webkit-details-marker{display:none}
        .case>summary:hover{background:var(--raised)}
        .case b{font-weight:500}
        .case small{color:var(--faint);font-size:12.5px}
        .c4{color:var(--soft)}
        .c5,.c6{text-align:right;white-space:nowrap}
        .c6{color:var(--faint)}
        .case .body{padding:6px 0 22px 9.5em}
        .case .body .facts{margin:10px 0;line-height:1.8}
        .case .body .facts span{margin-right:16px;overflow-wrap:anywhere}
        .case:target>summary{background:var(--calmbg)}
        .message{max-width:84ch;overflow-wrap:anywhere}
        .figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(250px,1fr));gap:0 32px;\
        margin:12px 0 0;font-size:13px}
        .figures div{display:flex;justify-content:space-between;gap:12px;border-bottom:1px solid var(--line);\
        padding:3px 0}
        .figures dt{color:var(--soft)}
        .figures dd{margin:0;white-space:nowrap}
        """

    private static let verdicts = """
        .v{display:inline-block;white-space:nowrap;font-size:13px;line-height:1.5;padding:0 8px 0 6px;\
        border-radius:4px;\
        background:var(--calmbg);color:var(--calm)}
        .v b{display:inline-block;min-width:1.1em;margin-right:.25em;text-align:center;font-weight:600}
        a.v:hover{text-decoration:none;box-shadow:0 0 0 1px currentColor}
        .v-pass{background:var(--goodbg);color:var(--good)}
        .v-violation{background:var(--bad);color:var(--bg);font-weight:600}
        .v-known{background:var(--badbg);color:var(--bad)}
        .v-inconclusive,.v-harness-error,.v-suspected-harness{background:var(--doubtbg);color:var(--doubt)}
        .v-harness-error,.v-suspected-harness{font-weight:600}
        .v-not-applicable,.v-not-built,.v-not-run{background:none;color:var(--faint)}
        .t-violation{color:var(--bad);font-weight:600}
        .t-pass b{color:var(--good)}
        .t-ahead{color:var(--good)}
        .t-behind{color:var(--bad)}
        .t-same,.t-open{color:var(--soft)}
        .t-inconclusive,.t-harness-error,.t-suspected-harness{color:var(--doubt)}
        """

    private static let drawings = """
        .charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,320px),1fr));gap:26px 34px;\
        margin:14px 0 8px}
        figure{margin:0;min-width:0}
        .witness{max-width:704px;margin:14px 0}
        figcaption{font-size:13.5px;margin-bottom:6px;line-height:1.4}
        figcaption span{display:block;color:var(--faint);font-size:12.5px}
        figcaption b{font-weight:500}
        svg{display:block;width:100%;height:auto;overflow:visible}
        svg text{font-size:11.5px;fill:var(--ink)}
        svg.at{width:1px;height:1px}
        .plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,660px),1fr));gap:30px 44px;\
        margin:22px 0 10px;align-items:start}
        .plots figcaption span span{display:inline;font-size:inherit}
        .plots figcaption .t-ahead{color:var(--good)}
        .plots figcaption .t-behind{color:var(--bad)}
        .fluid text{font-size:12px}
        .fluid a:hover text{text-decoration:underline}
        .band{fill:var(--line);opacity:.7}
        .one{stroke:var(--soft);fill:none}
        .wh{stroke-width:1.6;fill:none}
        .wb{stroke:var(--ink);stroke-width:1.2;fill:none;opacity:.75}
        .dot{stroke-width:1.6}
        .w-ahead{stroke:var(--good)}
        .w-behind{stroke:var(--bad)}
        .w-same{stroke:var(--soft)}
        .w-open{stroke:var(--faint)}
        .dot.w-ahead{fill:var(--good)}
        .dot.w-behind{fill:var(--bad)}
        .dot.w-same{fill:var(--soft)}
        .dot.w-open{fill:var(--bg)}
        svg text.t-ahead{fill:var(--good)}
        svg text.t-behind{fill:var(--bad)}
        svg text.t-same,svg text.t-open{fill:var(--soft)}
        svg .ax{fill:var(--soft)}
        svg .val,svg .ax{paint-order:stroke;stroke:var(--bg);stroke-width:3px;stroke-linejoin:round}
        .gr{stroke:var(--line);fill:none}
        .tk{stroke:var(--faint);fill:none}
        .ring{fill:var(--bg);stroke-width:1.6}
        .lim{stroke:var(--soft);stroke-dasharray:2 3;fill:none}
        .ln{fill:none;stroke-width:2;stroke-linejoin:round}
        .lv{fill:none;stroke-width:1;opacity:.75}
        .ld{fill:none;stroke-width:.7;opacity:.6}
        .pin{stroke:var(--doubt);stroke-width:4;fill:none}
        .d1{stroke-dasharray:7 4}
        .d2{stroke-dasharray:2 3}
        .d3{stroke-dasharray:9 3 2 3}
        .share{width:120px;height:10px;overflow:hidden;border-radius:2px}
        .key{display:flex;flex-wrap:wrap;gap:4px 16px;font-size:12.5px;color:var(--soft)}
        .key i{display:inline-block;width:11px;height:11px;margin-right:6px;border-radius:2px;vertical-align:-1px}
        """ + engines + outcomes

    private static var engines: String {
        (0..<8).map { index in
            ".s\(index){stroke:var(--e\(index))}.bar.f\(index){fill:var(--e\(index))}"
                + "svg text.f\(index){fill:var(--e\(index))}"
        }.joined() + ".bar.f7{fill-opacity:.3;stroke:var(--e7)}"
    }

    private static var outcomes: String {
        let colours: [(OutcomeRow.Group, String)] = [
            (.correct, "correct"), (.detected, "detected"), (.repaired, "repaired"), (.fellBack, "fell"),
            (.refused, "refused"), (.silentlyWrong, "wrong"), (.lost, "lost"), (.crashed, "crashed"), (.hung, "hung"),
            (.memory, "memory"), (.size, "size"),
        ]
        return colours.map { group, name in
            "svg .o-\(group.rawValue){fill:var(--\(name))}i.o-\(group.rawValue){background:var(--\(name))}"
        }.joined()
    }

    private static let small = """
        @media(max-width:720px){
        .top,main{padding-left:16px;padding-right:16px}
        .headline{font-size:19px;padding:12px 14px}
        section{padding:26px 0}
        .case>summary{grid-template-columns:auto 1fr auto;gap:2px 10px}
        .c2{grid-column:1/-1;grid-row:1}
        .c4{display:none}
        .c6{grid-column:3}
        .c5{grid-column:1/3;text-align:left;color:var(--soft)}
        .case .body{padding-left:0}
        .legend dl,.environment,.glance{grid-template-columns:1fr;gap:2px}
        .legend dd,.environment dd,.glance dd{margin-bottom:8px}
        }
        @media print{.tools,nav,#theme,.filter{display:none}body{background:#fff}}
        """
}
