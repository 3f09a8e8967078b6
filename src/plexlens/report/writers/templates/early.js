document.documentElement.classList.add("js");
try { const theme = localStorage.getItem("plexlens-theme"); if (theme) document.documentElement.dataset.theme = theme; } catch (e) { /* storage refused: follow the system */ }
