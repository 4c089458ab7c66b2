// Uses a page like a reader, and writes each problem as a sentence into the attribute data-probe of the root; empty if
// there is none. Tools/browser-check appends it to a copy of the page.
'use strict';
addEventListener('load', () => setTimeout(() => {
  const wrong = [];
  const expect = (holds, words) => { if (!holds) wrong.push(words); };
  const root = document.documentElement;
  const one = selector => document.querySelector(selector);
  const visible = selector => Array.from(document.querySelectorAll(selector)).filter(element => !element.hidden);

  expect(root.scrollWidth <= innerWidth, `wider than the window: ${root.scrollWidth} of ${innerWidth} pixels`);
  const screens = Math.ceil(root.scrollHeight / 800);
  if (innerWidth >= 1000) expect(screens <= 15, `${screens} screens of 800 pixels as it opens`);

  // Names cut off at the left cannot be scrolled into view.
  document.querySelectorAll('svg text').forEach(text => {
    const box = text.getBoundingClientRect();
    if (box.width > 0 && box.left < -1) wrong.push(`"${text.textContent}" begins left of the window`);
  });

  const search = one('#search');
  if (search) {
    const before = visible('.case').length, height = root.scrollHeight;
    const type = words => { search.value = words; search.dispatchEvent(new Event('input')); };
    const start = performance.now();
    type('no such word at all');
    expect(performance.now() - start < 1000, 'the first search took more than a second');
    expect(visible('.case').length === 0, 'a search for nothing leaves cases');
    expect(location.hash === '#q=no+such+word+at+all', `the search is not in the address: ${location.hash}`);
    const name = (one('.case b') || {}).textContent;
    if (name) {
      type(name);
      const left = visible('.case');
      expect(left.length > 0 && left.every(entry => entry.textContent.includes(name)), 'the search finds other cases');
      expect(left.every(entry => entry.closest('details.fold').open), 'what is found is folded');
    }
    type('');
    expect(visible('.case').length === before, 'cases stay hidden after the search');
    expect(root.scrollHeight === height, 'folds stay open after the search');
    expect(!location.hash, `an empty search stays in the address: ${location.hash}`);
    document.dispatchEvent(new KeyboardEvent('keydown', { key: '/', bubbles: true }));
    expect(document.activeElement === search, 'the key / does not lead to the search');
    search.blur();
    if (before > 0) {
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'j', bubbles: true }));
      expect(document.activeElement.closest('.case'), 'the key j does not lead to a case');
    }
    const links = Array.from(document.querySelectorAll('.side nav a'));
    expect(links.length > 2 && links.every(link => one(link.getAttribute('href'))), 'navigation leads nowhere');
    const head = one('table.sort[id] thead th.n button');
    if (head) {
      head.click();
      expect(location.hash.startsWith('#sort='), `the sort is not in the address: ${location.hash}`);
      expect(head.parentElement.getAttribute('aria-sort') === 'descending', 'a head does not sort');
    }
    const theme = root.dataset.theme;
    one('#theme').click();
    expect(root.dataset.theme !== theme, 'the theme does not change');
  }
  root.dataset.probe = wrong.slice(0, 20).join('; ');
}, 0));
