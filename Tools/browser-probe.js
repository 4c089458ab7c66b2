// Uses a page as a reader does, and leaves what went wrong in the attribute data-probe of its root: one sentence each,
// nothing where all is right. Tools/browser-check puts it at the end of a copy of the page, with `expectedScheme`, and
// shows narrow pages in a frame, whose parent is told the same.
'use strict';
addEventListener('load', () => setTimeout(() => {
  const wrong = [];
  const expect = (holds, words) => { if (!holds) wrong.push(words); };
  const root = document.documentElement;
  const one = selector => document.querySelector(selector);
  const visible = selector => Array.from(document.querySelectorAll(selector)).filter(element => !element.hidden);

  expect(root.scrollWidth <= innerWidth, `wider than the window: ${root.scrollWidth} of ${innerWidth} pixels`);
  // What reaches out of the page is cut off, unless a box of its own scrolls.
  document.querySelectorAll('main *, header *').forEach(element => {
    const box = element.getBoundingClientRect();
    if (box.width === 0 || box.right <= innerWidth + 1 || element.closest('svg svg, .skip')) return;
    for (let place = element.parentElement; place; place = place.parentElement) {
      if (/auto|scroll|hidden|clip/.test(getComputedStyle(place).overflowX)) return;
    }
    const words = element.textContent.trim().slice(0, 40);
    wrong.push(`<${element.tagName.toLowerCase()}> "${words}" ends at ${Math.round(box.right)} of ${innerWidth}`);
  });

  // The colours are those of the system, and text can be read on its ground.
  const light = colour => {
    const parts = colour.match(/[\d.]+/g).slice(0, 3).map(part => part / 255)
      .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const style = getComputedStyle(document.body);
  const [ground, ink] = [light(style.backgroundColor), light(style.color)];
  if (style.backgroundColor !== 'rgba(0, 0, 0, 0)') {
    const isDark = typeof expectedScheme === 'string' && expectedScheme === 'dark';
    expect(matchMedia('(prefers-color-scheme: dark)').matches === isDark, 'the browser has the other colours');
    expect(isDark ? ground < 0.1 : ground > 0.8, `the page is not ${isDark ? 'dark' : 'light'}: ${ground}`);
    expect((Math.max(ground, ink) + 0.05) / (Math.min(ground, ink) + 0.05) > 7, 'text does not stand out');
  }

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
    // Settings, the matrix, grids and facts are found as well, each fact with its value.
    type('no such word at all');
    const left = visible('table.grid tbody tr, .environment > *').filter(entry => !entry.closest('.case'));
    expect(left.length === 0, 'a search for nothing leaves rows or facts');
    const fact = one('.environment > dt');
    if (fact) {
      type(fact.nextElementSibling.textContent);
      expect(visible('.environment > *').includes(fact), 'the search does not find a fact by its value');
      expect(visible('.environment > dd').length === visible('.environment > dt').length, 'a fact without its value');
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
    if (one('.side')) expect(links.length > 0 && links.every(link => one(link.getAttribute('href'))), 'navigation leads nowhere');
    const head = one('table.sort[id] thead th.n button');
    if (head) {
      head.click();
      expect(location.hash.startsWith('#sort='), `the sort is not in the address: ${location.hash}`);
      expect(head.parentElement.getAttribute('aria-sort') === 'descending', 'a head does not sort');
    }
  }

  const chip = one('.chip');
  if (chip) {
    const column = one('td.tuned');
    const before = getComputedStyle(column).display;
    chip.click();
    expect(getComputedStyle(column).display !== before, 'the chip of tuned engines changes nothing');
    chip.click();
  }

  const flame = one('#flame');
  if (flame) {
    const boxes = Array.from(flame.children), widest = boxes.find(box => box.dataset.r === '1');
    const press = (key, target) => target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    boxes[0].focus();
    press('ArrowDown', boxes[0]);
    expect(!widest || document.activeElement.dataset.r === '1', 'an arrow does not lead to what a function calls');
    const box = document.activeElement;
    box.click();
    const full = flame.getBoundingClientRect().width;
    expect(Math.abs(box.getBoundingClientRect().width - full) < 2, 'a box that is chosen does not fill the width');
    expect(one('#flame-box').textContent.includes(box.textContent), 'a box does not say what it is');
    press('Escape', box);
    expect(boxes.every(other => !other.hidden), 'Esc does not show all again');
  }

  const theme = one('#theme');
  if (theme) {
    const before = root.dataset.theme;
    theme.click();
    expect(root.dataset.theme !== before, 'the theme does not change');
    try { localStorage.removeItem('assay-theme'); } catch (error) { /* it is not kept for files */ }
  }
  root.dataset.probe = wrong.slice(0, 20).join('; ');
  if (parent !== self) parent.postMessage(root.dataset.probe, '*');
}, 0));
