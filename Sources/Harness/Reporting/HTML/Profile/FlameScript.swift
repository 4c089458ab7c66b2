/// The script of a profile's drawing: a box becomes as wide as the page, arrow keys go from box
/// to box, and a search fades the boxes that it does not find. Without the script each box still has its tooltip.
enum FlameScript {
    static let text = """
        (() => {
        const flame = document.getElementById('flame');
        if (!flame) return;
        const line = document.getElementById('flame-box');
        const whole = document.getElementById('flame-whole');
        const search = document.getElementById('search');
        const boxes = Array.from(flame.children).map(element => ({
          element, x: Number(element.dataset.x), w: Number(element.dataset.w), row: Number(element.dataset.r),
        }));
        const of = new Map(boxes.map(box => [box.element, box]));
        const hair = 1e-7;
        const holds = (outer, inner) => outer.x <= inner.x + hair && outer.x + outer.w >= inner.x + inner.w - hair;

        // The box and its callers fill the width; the script hides the boxes beside them.
        const zoom = to => {
          boxes.forEach(box => {
            const isCaller = box.row < to.row && holds(box, to);
            const isInside = holds(to, box) && box.row >= to.row;
            box.element.hidden = !isCaller && !isInside;
            if (box.element.hidden) return;
            const left = isCaller ? 0 : (box.x - to.x) / to.w, width = isCaller ? 1 : box.w / to.w;
            box.element.style.left = left * 100 + '%';
            box.element.style.width = width * 100 + '%';
          });
          whole.hidden = to.row === 0;
        };
        const tell = box => { line.textContent = box.element.title; };
        const go = box => {
          if (!box) return;
          boxes.forEach(other => { other.element.tabIndex = other === box ? 0 : -1; });
          box.element.focus();
        };
        const shown = () => boxes.filter(box => !box.element.hidden);
        const steps = {
          ArrowUp: box => shown().find(other => other.row === box.row - 1 && holds(other, box)),
          ArrowDown: box => shown().filter(other => other.row === box.row + 1 && holds(box, other))
            .sort((a, b) => b.w - a.w)[0],
          ArrowLeft: box => shown().filter(other => other.row === box.row && other.x < box.x).pop(),
          ArrowRight: box => shown().find(other => other.row === box.row && other.x > box.x),
        };
        flame.addEventListener('click', event => {
          const box = of.get(event.target);
          if (box) { zoom(box); tell(box); }
        });
        ['focusin', 'mouseover'].forEach(kind => flame.addEventListener(kind, event => {
          const box = of.get(event.target);
          if (box) tell(box);
        }));
        flame.addEventListener('keydown', event => {
          const step = steps[event.key], box = of.get(event.target);
          if (!step || !box) return;
          event.preventDefault();
          go(step(box));
        });
        whole.addEventListener('click', () => zoom(boxes[0]));
        document.addEventListener('keydown', event => {
          if (event.key === 'Escape' && event.target !== search && boxes.length) zoom(boxes[0]);
        });

        const mark = () => {
          const words = search.value.toLowerCase().trim();
          boxes.forEach(box => {
            box.element.classList.toggle('dim', words !== '' && !box.element.title.toLowerCase().includes(words));
          });
        };
        search.addEventListener('input', mark);
        search.addEventListener('keydown', event => { if (event.key === 'Escape') setTimeout(mark, 0); });
        mark();
        })();
        """
}
