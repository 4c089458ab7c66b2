/// The script of a page: theme, sorting, search, copying, keys, and the unfolding of parts that a link leads
/// to. Without the script all contents are still there. The browser keeps the theme; search and sort are in the
/// address, so that they can be passed on: `#q=commit+lmdb&sort=t-peers.3.descending`.
enum ReportScript {
    static let text = """
        \(ThemeScript.text)
        (() => {
        const all = (selector, within) => Array.from((within || document).querySelectorAll(selector));
        const one = id => document.getElementById(id);

        // Folds around an element are opened, so that it can be seen.
        const unfold = element => {
          for (let place = element; place; place = place.parentElement) {
            if (place.tagName === 'DETAILS') place.open = true;
            place.hidden = false;
          }
        };

        // The address.
        const state = { q: '', sort: '' };
        const readState = () => {
          const fields = new URLSearchParams(location.hash.slice(1));
          if (!fields.has('q') && !fields.has('sort')) return false;
          state.q = fields.get('q') || '';
          state.sort = fields.get('sort') || '';
          return true;
        };
        const writeState = () => {
          const fields = new URLSearchParams();
          if (state.q) fields.set('q', state.q);
          if (state.sort) fields.set('sort', state.sort);
          const text = fields.toString();
          history.replaceState(null, '', location.href.split('#')[0] + (text ? '#' + text : ''));
        };

        // Sorting.
        const value = (row, column) => {
          const cell = row.cells[column];
          if (!cell) return '';
          return cell.dataset.v !== undefined ? cell.dataset.v : cell.textContent.trim();
        };
        const isEmpty = text => text === '' || text === '\\u00b7' || text === '\\u2013';
        const compare = (a, b) => {
          const x = isEmpty(a) ? NaN : Number(a), y = isEmpty(b) ? NaN : Number(b);
          if (!isNaN(x) && !isNaN(y)) return x - y;
          if (isNaN(x) !== isNaN(y)) return isNaN(x) ? 1 : -1;
          return a.localeCompare(b);
        };
        const sortBy = (table, column, order) => {
          const heads = all('thead th', table);
          heads.forEach(head => head.removeAttribute('aria-sort'));
          if (!heads[column]) return;
          heads[column].setAttribute('aria-sort', order);
          const sign = order === 'ascending' ? 1 : -1;
          const body = table.tBodies[0];
          table.classList.add('sorted');
          const rows = Array.from(body.rows).filter(row => !row.classList.contains('group'))
            .map(row => [value(row, column), row]);
          rows.sort((a, b) => (isEmpty(a[0]) - isEmpty(b[0])) || sign * compare(a[0], b[0]));
          body.append(...rows.map(pair => pair[1]));
        };
        all('table.sort').forEach(table => all('thead th', table).forEach((head, column) => {
          const button = head.querySelector('button');
          if (!button) return;
          button.addEventListener('click', () => {
            const before = head.getAttribute('aria-sort');
            const first = head.classList.contains('n') ? 'descending' : 'ascending';
            const order = !before ? first : before === 'ascending' ? 'descending' : 'ascending';
            sortBy(table, column, order);
            if (table.id) { state.sort = [table.id, column, order].join('.'); writeState(); }
          });
        }));

        // Columns of tuned engines beside the same engines as they come.
        all('table.grid').forEach(table => {
          const name = head => head.textContent.trim();
          const names = new Set(all('thead th', table).map(name));
          const tuned = all('thead .tuned', table).map(name);
          if (!tuned.length || !tuned.every(engine => names.has(engine.replace(/-tuned$/, '')))) return;
          const chip = document.createElement('button');
          const show = isShown => {
            table.classList.toggle('untuned', !isShown);
            chip.setAttribute('aria-pressed', String(isShown));
          };
          chip.type = 'button';
          chip.className = 'chip';
          chip.textContent = tuned.length + (tuned.length === 1 ? ' tuned engine' : ' tuned engines');
          chip.addEventListener('click', () => show(table.classList.contains('untuned')));
          table.parentElement.before(chip);
          show(false);
        });

        // Search: rows of tables, drawings, findings, answers, facts and cases that lack a word are hidden.
        const search = one('search');
        const found = one('found');
        let entries = null;
        let foldsBefore = null;
        const titles = 'tr.group, tr.family';
        // A case is found as a whole, with the tables in it.
        const inCase = element => element.parentElement.closest('.case');
        const index = () => entries || (entries = all(
          '.case, table.sort tbody tr, table.grid tbody tr, .findings > li, .answers > li, '
            + '.charts > figure, .heat tbody tr, .environment > dt')
          .filter(element => !element.matches(titles) && !inCase(element)).map(element => {
            // A fact is the name and the value after it.
            const rest = element.tagName === 'DT' ? element.nextElementSibling : null;
            const part = element.classList.contains('case')
              ? element.querySelector('summary').textContent + ' ' + element.querySelector('.facts').textContent
              : (element.querySelector('figcaption') || element).textContent + (rest ? ' ' + rest.textContent : '');
            return { elements: rest ? [element, rest] : [element], text: part.toLowerCase() };
          }));
        const setHidden = (entry, isHidden) => entry.elements.forEach(element => { element.hidden = isHidden; });
        const show = words => {
          const wanted = words.toLowerCase().split(/\\s+/).filter(Boolean);
          if (wanted.length === 0) {
            all(titles).forEach(row => { row.hidden = false; });
            if (entries) entries.forEach(entry => setHidden(entry, false));
            if (foldsBefore) foldsBefore.forEach(([fold, open]) => { fold.open = open; });
            foldsBefore = null;
            all('main > section').forEach(section => { section.hidden = false; });
            if (found) found.textContent = '';
            return;
          }
          foldsBefore = foldsBefore || all('.fold').map(fold => [fold, fold.open]);
          let count = 0;
          const kept = new Set();
          index().forEach(entry => {
            const matches = wanted.every(word => entry.text.includes(word));
            setHidden(entry, !matches);
            if (!matches) return;
            count += 1;
            for (let place = entry.elements[0].parentElement; place && !kept.has(place); place = place.parentElement) {
              kept.add(place);
            }
          });
          all(titles).forEach(group => {
            let row = group.nextElementSibling;
            while (row && row.hidden && !row.matches(titles)) row = row.nextElementSibling;
            group.hidden = !row || row.matches(titles);
          });
          all('.fold').forEach(fold => { fold.open = kept.has(fold); });
          all('main > section').forEach(section => {
            section.hidden = !kept.has(section) && !section.matches('.warnings, .steady');
          });
          if (found) found.textContent = count + (count === 1 ? ' match' : ' matches');
        };
        const countCases = () => {
          const output = one('case-count'), list = one('case-list');
          if (!output || !list) return;
          const shown = Array.from(list.children).filter(entry => !entry.hidden).length;
          output.textContent = shown + ' of ' + list.children.length
            + (list.children.length === 1 ? ' case' : ' cases');
        };
        if (search) search.addEventListener('input', () => {
          state.q = search.value.trim();
          show(state.q);
          countCases();
          writeState();
        });

        // The list of cases.
        const list = one('case-list');
        if (list) {
          const cases = Array.from(list.children);
          cases.forEach((entry, place) => { entry.dataset.i = place; });
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
        }

        // Keys.
        const step = by => {
          if (!list) return;
          const cases = Array.from(list.children).filter(entry => !entry.hidden);
          const now = cases.indexOf(document.activeElement && document.activeElement.closest('.case'));
          const next = cases[now < 0 ? (by > 0 ? 0 : cases.length - 1) : now + by];
          if (!next) return;
          unfold(next);
          next.querySelector('summary').focus();
          next.scrollIntoView({ block: 'start' });
        };
        document.addEventListener('keydown', event => {
          if (event.ctrlKey || event.metaKey || event.altKey) return;
          const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
          if (event.key === 'Escape') {
            if (isTyping && search) {
              search.value = state.q = '';
              show('');
              countCases();
              writeState();
              search.blur();
            } else {
              const open = event.target.closest && event.target.closest('details[open]');
              if (open) { open.open = false; open.querySelector('summary').focus(); }
            }
          } else if (isTyping) {
            return;
          } else if (event.key === '/' && search) {
            event.preventDefault();
            search.focus();
            search.select();
          } else if (event.key === 'j' || event.key === 'k') {
            step(event.key === 'j' ? 1 : -1);
          }
        });

        // Commands.
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

        // Marks the visible section in the navigation.
        const links = new Map(all('.side nav a').map(link => [link.getAttribute('href').slice(1), link]));
        if (links.size && 'IntersectionObserver' in window) {
          const observer = new IntersectionObserver(changes => changes.forEach(change => {
            if (!change.isIntersecting) return;
            links.forEach(link => link.removeAttribute('aria-current'));
            const link = links.get(change.target.id);
            if (link) link.setAttribute('aria-current', 'true');
          }), { rootMargin: '-10% 0px -80% 0px' });
          all('main > section[id]').forEach(section => observer.observe(section));
        }

        // Paper shows folded parts.
        let printed = null;
        addEventListener('beforeprint', () => {
          printed = all('details:not([open])');
          printed.forEach(details => { details.open = true; });
        });
        addEventListener('afterprint', () => {
          if (printed) printed.forEach(details => { details.open = false; });
          printed = null;
        });

        const follow = () => {
          if (readState()) {
            if (search) search.value = state.q;
            show(state.q);
            const [id, column, order] = state.sort.split('.');
            const table = id && one(id);
            if (table && table.tBodies) { sortBy(table, Number(column), order); unfold(table); }
            countCases();
            return;
          }
          const id = decodeURIComponent(location.hash.slice(1));
          if (id === 'dark' || id === 'light') { assayTheme.set(id); return; }
          const target = id && one(id);
          if (!target || target.id === 'main') return;
          unfold(target);
          target.scrollIntoView();
        };
        addEventListener('hashchange', follow);
        countCases();
        follow();
        })();
        """
}
