/// The look of the portal's pages and of the page on which people sign in: the colours, sizes and words of the app.
enum HomeStylesheet {
    static let text = tokens + elements + pieces

    private static let tokens = """
        :root { color-scheme: light dark; --canvas: #f3f5f0; --surface: #fff; --sunk: #f1f4ee; --ink: #18211b;
          --muted: #4a564e; --line: #dbe1d7; --line-strong: #737e75; --action: #0b4f8a; --on-action: #fff;
          --action-soft: #e2eefa; --on-action-soft: #083e6d; --bad: #b3261e; --bad-soft: #fce8e6; --on-bad-soft: #8a1a14;
          --good-soft: #e0f2e6; --on-good-soft: #0f4c2b;
          --font: -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", Arial, system-ui, sans-serif; }
        @media (prefers-color-scheme: dark) { :root { --canvas: #0c110e; --surface: #141a16; --sunk: #1c241f;
          --ink: #edf1ec; --muted: #b3bfb6; --line: #2d3831; --line-strong: #849188; --action: #9ccbff; --on-action: #06223d;
          --action-soft: #17324c; --on-action-soft: #cfe5ff; --bad: #ffb3aa; --bad-soft: #43191a; --on-bad-soft: #ffcfc9;
          --good-soft: #143323; --on-good-soft: #aeeac4; } }

        """

    private static let elements = """
        * { box-sizing: border-box; }
        body { font: 1rem/1.45 var(--font); margin: 0; background: var(--canvas); color: var(--ink); overflow-wrap: anywhere; }
        h1 { font-size: 1.625rem; line-height: 1.22; margin: 0 0 1rem; } h2 { font-size: 1.125rem; margin: 0 0 .5rem; }
        p { margin: 0 0 .75rem; } ul { margin: 0; padding: 0; list-style: none; }
        a { color: var(--action); } :focus-visible { outline: 3px solid var(--action); outline-offset: 2px; }
        label, legend { display: block; font-weight: 600; margin: .75rem 0 .25rem; } fieldset { border: 0; margin: 0; padding: 0; }
        input, select { width: 100%; min-height: 48px; padding: 0 .75rem; font: inherit; color: inherit;
          background: var(--surface); border: 1.5px solid var(--line-strong); border-radius: 10px; }
        input[type=radio], input[type=checkbox] { width: 24px; min-height: 24px; margin: 0; flex: none; }
        button, .btn { display: inline-flex; align-items: center; justify-content: center; min-height: 48px; padding: 0 1rem;
          font: inherit; font-weight: 600; color: var(--ink); background: var(--surface); text-decoration: none;
          border: 1.5px solid var(--line-strong); border-radius: 10px; cursor: pointer; }
        .main { background: var(--action); border-color: var(--action); color: var(--on-action); }
        .bad { color: var(--bad); border-color: var(--bad); }

        """

    private static let pieces = """
        .bar { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem .75rem; padding: .25rem 1rem;
          background: var(--surface); border-bottom: 1px solid var(--line); }
        .bar a { display: inline-flex; align-items: center; min-height: 48px; padding: 0 .5rem; color: var(--ink);
          text-decoration: none; } .bar a[aria-current] { color: var(--action); font-weight: 650; }
        .bar .brand { font-weight: 680; font-size: 1.125rem; } .bar nav { display: flex; flex-wrap: wrap; flex: 1 1 auto; }
        .bar form { margin: 0; } .skip { position: absolute; left: -100vw; } .skip:focus { left: 0; z-index: 1;
          padding: .75rem; background: var(--surface); }
        .wrap { max-width: 66rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
        .sheet { max-width: 24rem; margin: 8vh auto 2rem; padding: 1.5rem; background: var(--surface); border-radius: 14px;
          border: 1px solid var(--line); } .sheet h1 { font-size: 1.3125rem; margin: 0 0 .25rem; }
        .sheet button, .wide { width: 100%; margin-top: 1rem; } .muted { color: var(--muted); } .small { font-size: .875rem; }
        .cards { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); }
        .card { background: var(--surface); border: 1px solid var(--line); border-radius: 14px; padding: 1rem; }
        .cards .card { padding: 0; overflow: hidden; } .cards .card > div { padding: .75rem 1rem 1rem; }
        .cards .card a { font-weight: 650; } .card + .card, .gap { margin-top: 1rem; } .cards .card + .card { margin-top: 0; }
        .thumb { display: block; width: 100%; height: auto; aspect-ratio: 3 / 2; object-fit: cover; background: var(--sunk); }
        .none { aspect-ratio: auto; height: 4.5rem; background: repeating-linear-gradient(115deg, var(--sunk) 0 22px,
          var(--line) 22px 24px); }
        .rows > li { padding: .75rem 0; border-top: 1px solid var(--line); } .rows > li:first-child { border-top: 0; }
        .two { display: grid; gap: 1rem; grid-template-columns: minmax(0, 2fr) minmax(15rem, 1fr); align-items: start; }
        @media (max-width: 50rem) { .two { grid-template-columns: minmax(0, 1fr); } }
        .search { display: flex; flex-wrap: wrap; gap: .75rem; align-items: end; margin-bottom: 1rem; }
        .search > div { flex: 1 1 14rem; } .search label { margin-top: 0; }
        .line { display: flex; flex-wrap: wrap; gap: .75rem; align-items: end; } .line > div { flex: 1 1 12rem; }
        .pick { display: flex; align-items: center; gap: .75rem; min-height: 48px; margin: 0; font-weight: 500; }
        .note { padding: .75rem 1rem; border-radius: 10px; margin-bottom: 1rem; background: var(--good-soft);
          color: var(--on-good-soft); } .note.failed, .failed { background: var(--bad-soft); color: var(--on-bad-soft);
          font-weight: 600; border-radius: 10px; padding: .75rem 1rem; }
        .code { display: block; width: 12rem; height: 12rem; background: #fff; border-radius: 10px; }
        .address { display: block; padding: .5rem .75rem; background: var(--sunk); border-radius: 10px; user-select: all; }
        .may { font-weight: 600; } .steps { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.5rem; }

        """
}
