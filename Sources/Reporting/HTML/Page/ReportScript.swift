/// What the report does beyond being read: the theme, sorting, filtering, copying, and opening the case that a link
/// leads to. Without it everything is still there. Nothing is stored, so that it runs from disk in every browser.
enum ReportScript {
    static let text = """
        'use strict';
        (() => {
        const all = (selector, within) => Array.from((within || document).querySelectorAll(selector));
        const one = id => document.getElementById(id);
        const root = document.documentElement;

        const theme = one('theme');
        const system = matchMedia('(prefers-color-scheme: dark)');
        const isDark = () => root.dataset.theme ? root.dataset.theme === 'dark' : system.matches;
        const nameTheme = () => { theme.textContent = isDark() ? 'Light' : 'Dark'; };
        const setTheme = name => { root.dataset.theme = name; nameTheme(); };
        theme.addEventListener('click', () => setTheme(isDark() ? 'light' : 'dark'));
        system.addEventListener('change', nameTheme);
        nameTheme();

        const follow = () => {
          const id = decodeURIComponent(location.hash.slice(1));
          if (id === 'dark' || id === 'light') { setTheme(id); return; }
          const target = id && one(id);
          if (target && target.tagName === 'DETAILS') {
            target.hidden = false;
            target.open = true;
            target.scrollIntoView();
          }
        };
        addEventListener('hashchange', follow);

        const value = (row, column) => {
          const cell = row.cells[column];
          if (!cell) return '';
          return cell.dataset.v !== undefined ? cell.dataset.v : cell.textContent.trim();
        };
        const compare = (a, b) => {
          const x = a === '' || a === '\\u00b7' ? NaN : Number(a), y = b === '' || b === '\\u00b7' ? NaN : Number(b);
          if (!isNaN(x) && !isNaN(y)) return x - y;
          if (isNaN(x) !== isNaN(y)) return isNaN(x) ? 1 : -1;
          return a.localeCompare(b);
        };
        all('table.sort').forEach(table => {
          const heads = all('thead th', table);
          heads.forEach((head, column) => {
            const button = head.querySelector('button');
            if (!button) return;
            button.addEventListener('click', () => {
              const isNumber = head.classList.contains('n');
              const before = head.getAttribute('aria-sort');
              const order = before ? (before === 'ascending' ? 'descending' : 'ascending')
                : (isNumber ? 'descending' : 'ascending');
              heads.forEach(other => other.removeAttribute('aria-sort'));
              head.setAttribute('aria-sort', order);
              const sign = order === 'ascending' ? 1 : -1;
              const body = table.tBodies[0];
              const empty = text => text === '' || text === '\\u00b7' || text === '\\u2013';
              const rows = Array.from(body.rows).map(row => [value(row, column), row]);
              rows.sort((a, b) => (empty(a[0]) - empty(b[0])) || sign * compare(a[0], b[0]));
              body.append(...rows.map(pair => pair[1]));
            });
          });
        });

        const matcher = input => {
          const words = input.value.toLowerCase().split(/\\s+/).filter(Boolean);
          return text => words.every(word => text.includes(word));
        };
        all('input.filter').forEach(input => input.addEventListener('input', () => {
          const matches = matcher(input);
          Array.from(one(input.dataset.for).tBodies[0].rows).forEach(row => {
            row.hidden = !matches(row.textContent.toLowerCase());
          });
        }));

        const list = one('case-list');
        if (list) {
          const cases = Array.from(list.children);
          const texts = cases.map(entry => ['summary', '.facts']
            .map(part => entry.querySelector(part).textContent).join(' ').toLowerCase());
          cases.forEach((entry, index) => { entry.dataset.i = index; });
          const count = () => {
            const shown = cases.filter(entry => !entry.hidden).length;
            one('case-count').textContent = shown + ' of ' + cases.length + (cases.length === 1 ? ' case' : ' cases');
          };
          const input = one('case-filter');
          input.addEventListener('input', () => {
            const matches = matcher(input);
            cases.forEach((entry, index) => { entry.hidden = !matches(texts[index]); });
            count();
          });
          one('case-sort').addEventListener('change', event => {
            const key = event.target.value;
            const sorted = cases.slice().sort((a, b) => {
              const x = a.dataset[key], y = b.dataset[key];
              const order = key === 's' || key === 'e' ? x.localeCompare(y) : (key === 'd' ? y - x : x - y);
              return order || a.dataset.i - b.dataset.i;
            });
            list.append(...sorted);
          });
          one('case-open').addEventListener('click', event => {
            const open = event.target.textContent === 'Open all';
            cases.forEach(entry => { if (!entry.hidden) entry.open = open; });
            event.target.textContent = open ? 'Close all' : 'Open all';
          });
          count();
        }

        const copy = async (text, button) => {
          try {
            await navigator.clipboard.writeText(text);
          } catch (error) {
            const area = document.createElement('textarea');
            area.value = text;
            document.body.append(area);
            area.select();
            document.execCommand('copy');
            area.remove();
          }
          button.classList.add('done');
          setTimeout(() => button.classList.remove('done'), 1500);
        };
        document.addEventListener('click', event => {
          const button = event.target.closest('.cmd, .copy');
          if (button) copy(button.dataset.c || button.textContent, button);
        });

        follow();
        })();
        """
}
