export function applyPalette(palette) {
  for (const tone of ["positive", "negative", "unsigned"]) {
    document.documentElement.style.setProperty(
      `--${tone}`,
      palette[tone].replace(")", ` / ${palette.strongest})`),
    );
  }
}

export function comparing(palette) {
  return { ...palette, positive: palette.more, negative: palette.less };
}
