/// What a test looks for in the layout of a page.
enum PageLayout {
    /// A script: what reaches beyond the window, or is cut off by it, though it can't be scrolled to. Tables scroll in
    /// their panel.
    static let tooWide = """
        (() => {
          const wide = document.documentElement.clientWidth;
          const bad = [];
          if (document.documentElement.scrollWidth > wide) bad.push('the page: ' + document.documentElement.scrollWidth);
          const scrolls = (e) => {
            for (let p = e; p && p !== document.body; p = p.parentElement) {
              const x = getComputedStyle(p).overflowX;
              if ((x === 'auto' || x === 'scroll') && p.scrollWidth > p.clientWidth + 1 && p.matches('.bar-chips, .strip, .desk')) return true;
            }
            return false;
          };
          for (const e of document.querySelectorAll('a, button, h1, h2, p, span, b, input, select, textarea, dt, dd, legend, label, summary')) {
            if (!e.getClientRects().length || e.closest('.vh, .skip, #map, .tbl, [aria-hidden=true]')) continue;
            if (e.matches('input[type=radio], input[type=checkbox], input[type=file]')) continue;
            const r = e.getBoundingClientRect();
            if (r.width === 0 || getComputedStyle(e).visibility === 'hidden') continue;
            if ((r.right > wide + 1 || r.left < -1) && !scrolls(e)) {
              bad.push(e.outerHTML.slice(0, 90) + ' ' + Math.round(r.left) + ' to ' + Math.round(r.right));
            }
          }
          return bad.slice(0, 4);
        })()
        """

    /// A script: symbols that a rule for the text beside them has stretched.
    static let stretchedSymbols = """
        [...document.querySelectorAll('.sym')].filter((e) => e.getClientRects().length > 0 && e.firstElementChild)
          .filter((e) => {
            const [box, picture] = [e.getBoundingClientRect(), e.firstElementChild.getBoundingClientRect()];
            return box.height > picture.height + 16 || box.width > picture.width + 16;
          }).map((e) => e.outerHTML.slice(0, 90)).slice(0, 4)
        """
}
