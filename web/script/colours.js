// Colours from artwork. Text moves away from the ground until the contrast is sufficient for any picture.

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
const toLinear = (byte) => {
  const value = byte / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
};
const toByte = (linear) => {
  const value = linear <= 0.0031308 ? linear * 12.92 : 1.055 * linear ** (1 / 2.4) - 0.055;
  return Math.round(clamp(value, 0, 1) * 255);
};

// Red, green and blue (0 to 255) as lightness (0 to 1), chroma and hue (radians) of OKLCH.
export function toOKLCH([red, green, blue]) {
  const [r, g, b] = [toLinear(red), toLinear(green), toLinear(blue)];
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  const lightness = 0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s;
  const across = 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s;
  const down = 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s;
  return { lightness, chroma: Math.hypot(across, down), hue: Math.atan2(down, across) };
}

// The nearest colour of a screen: chroma shrinks until it fits.
export function toRGB({ lightness, chroma, hue }) {
  for (let width = chroma; ; width = width < 0.004 ? 0 : width - 0.004) {
    const [across, down] = [width * Math.cos(hue), width * Math.sin(hue)];
    const l = (lightness + 0.3963377774 * across + 0.2158037573 * down) ** 3;
    const m = (lightness - 0.1055613458 * across - 0.0638541728 * down) ** 3;
    const s = (lightness - 0.0894841775 * across - 1.291485548 * down) ** 3;
    const linear = [
      4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
      -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
      -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
    ];
    if (width === 0 || linear.every((value) => value >= -0.0005 && value <= 1.0005)) return linear.map(toByte);
  }
}

const luminance = ([red, green, blue]) => 0.2126 * toLinear(red) + 0.7152 * toLinear(green) + 0.0722 * toLinear(blue);

// The contrast of two colours by WCAG: 1 to 21.
export function contrast(one, other) {
  const [high, low] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

// A colour of this chroma and hue that has the contrast `ratio` to all of `grounds`: from `lightness` on, away from them.
export function readable({ lightness, chroma, hue }, grounds, ratio, isDark) {
  for (let step = 0; step <= 100; step += 1) {
    const light = clamp(isDark ? lightness + step / 100 : lightness - step / 100, 0, 1);
    const colour = toRGB({ lightness: light, chroma, hue });
    if (grounds.every((ground) => contrast(colour, ground) >= ratio)) return colour;
  }
  return isDark ? [255, 255, 255] : [0, 0, 0];
}

// The two strongest colours of a picture, by a histogram of hues; pixels: bytes of red, green, blue and alpha.
export function dominant(pixels) {
  const bins = Array.from({ length: 24 }, () => ({ weight: 0, lightness: 0, chroma: 0, x: 0, y: 0 }));
  for (let at = 0; at < pixels.length; at += 4) {
    if (pixels[at + 3] < 128) continue;
    const { lightness, chroma, hue } = toOKLCH([pixels[at], pixels[at + 1], pixels[at + 2]]);
    const bin = bins[Math.floor(((hue + Math.PI) / (2 * Math.PI)) * 23.999)];
    // Grey has no hue; black and white have no colour.
    const weight = 0.002 + chroma * (1 - Math.abs(lightness - 0.55));
    bin.weight += weight;
    bin.lightness += weight * lightness;
    bin.chroma += weight * chroma;
    bin.x += weight * Math.cos(hue);
    bin.y += weight * Math.sin(hue);
  }
  const sorted = bins.map((bin, index) => ({ ...bin, index })).sort((a, b) => b.weight - a.weight);
  const colour = (bin) => (bin.weight === 0 ? { lightness: 0.5, chroma: 0, hue: 0 } : {
    lightness: bin.lightness / bin.weight, chroma: bin.chroma / bin.weight, hue: Math.atan2(bin.y, bin.x),
  });
  const far = ({ index }) => Math.min(Math.abs(index - sorted[0].index), 24 - Math.abs(index - sorted[0].index)) > 2;
  const second = sorted.find((bin) => far(bin) && bin.weight > sorted[0].weight * 0.15) ?? sorted[0];
  return [colour(sorted[0]), colour(second)];
}

const css = (rgb) => `rgb(${rgb.join(" ")})`;

// Values of the custom properties of the page, for a dark or a light screen.
export function palette([first, second], isDark) {
  const tint = (colour, lightness, most) => ({ lightness, chroma: Math.min(colour.chroma, most), hue: colour.hue });
  const top = toRGB(isDark ? tint(first, 0.36, 0.09) : tint(first, 0.9, 0.06));
  const bottom = toRGB(isDark ? tint(first, 0.17, 0.04) : tint(first, 0.97, 0.02));
  const grounds = [top, bottom];
  const text = readable(isDark ? tint(first, 0.97, 0.012) : tint(first, 0.2, 0.03), grounds, 7, isDark);
  const muted = readable(isDark ? tint(first, 0.78, 0.03) : tint(first, 0.46, 0.04), grounds, 4.6, isDark);
  // The second colour of a picture stands out from the first.
  const strong = second.chroma > 0.04 ? second : first;
  const accent = readable(isDark ? tint(strong, 0.8, 0.13) : tint(strong, 0.5, 0.15), grounds, 4.6, isDark);
  return { "--top": css(top), "--bottom": css(bottom), "--text": css(text), "--muted": css(muted), "--accent": css(accent) };
}
