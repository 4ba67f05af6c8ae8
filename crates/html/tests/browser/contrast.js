// Texts that stand out less than WCAG AA asks for: 4.5 to 1, or 3 to 1 where they are large.
const channel = (of) => (of /= 255) <= 0.03928 ? of / 12.92 : ((of + 0.055) / 1.055) ** 2.4;
const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const colour = (text) => text.match(/[\d.]+/g).map(Number);
const behind = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const of = colour(getComputedStyle(at).backgroundColor);
    if (of.length === 3 || of[3] === 1) return of;
  }
  return [255, 255, 255];
};
const faint = [];
for (const element of document.querySelectorAll("body *:not(script):not(style)")) {
  const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  if (!own || element.closest(".unseen, .skip, svg") || !element.checkVisibility()) continue;
  const style = getComputedStyle(element);
  const [a, b] = [colour(style.color), behind(element)].map(luminance);
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const size = parseFloat(style.fontSize);
  const least = size >= 24 || (size >= 18.6 && style.fontWeight >= 700) ? 3 : 4.5;
  if (ratio < least) faint.push(`${element.className} ${element.textContent}: ${ratio.toFixed(2)}`);
}
return faint;
