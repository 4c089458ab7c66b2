/// Light or dark: as the system is set, until the reader chooses. The browser keeps the choice for all pages.
enum ThemeScript {
    static let text = """
        'use strict';
        const assayTheme = (() => {
        const root = document.documentElement;
        // Storage may be forbidden to files; then the choice lasts as long as the page.
        const stored = {
          get: () => { try { return localStorage.getItem('assay-theme'); } catch (error) { return null; } },
          set: name => { try { localStorage.setItem('assay-theme', name); } catch (error) { /* not kept */ } },
        };
        const theme = document.getElementById('theme');
        const system = matchMedia('(prefers-color-scheme: dark)');
        const isDark = () => root.dataset.theme ? root.dataset.theme === 'dark' : system.matches;
        const nameTheme = () => { if (theme) theme.textContent = isDark() ? 'Light' : 'Dark'; };
        const setTheme = name => { root.dataset.theme = name; nameTheme(); };
        const kept = stored.get();
        if (kept === 'dark' || kept === 'light') root.dataset.theme = kept;
        if (theme) theme.addEventListener('click', () => {
          setTheme(isDark() ? 'light' : 'dark');
          stored.set(root.dataset.theme);
        });
        system.addEventListener('change', nameTheme);
        nameTheme();
        return { set: setTheme };
        })();
        """
}
