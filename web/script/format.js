// Numbers and times in a language's written and spoken forms.

export class Format {
  #language;
  #units = new Map();

  constructor(language) {
    this.#language = language;
  }

  // 1:05, 12:34, 1:02:03; for labels. `seconds` is cut to a whole number.
  time(seconds) {
    const whole = Math.max(0, Math.floor(seconds));
    const two = (number) => String(number).padStart(2, "0");
    const minutes = Math.floor(whole / 60) % 60;
    const hours = Math.floor(whole / 3600);
    return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
  }

  // 1 hour, 2 minutes and 3 seconds; for screen readers. At most two parts.
  spoken(seconds) {
    const whole = Math.max(0, Math.floor(seconds));
    const parts = [["hour", Math.floor(whole / 3600)], ["minute", Math.floor(whole / 60) % 60], ["second", whole % 60]]
      .filter(([, count]) => count > 0);
    if (parts.length === 0) parts.push(["second", 0]);
    const texts = parts.slice(0, 2).map(([unit, count]) => this.unit(count, unit));
    return new Intl.ListFormat(this.#language, { type: "unit", style: "long" }).format(texts);
  }

  unit(count, unit, display = "long") {
    const key = `${unit} ${display}`;
    if (!this.#units.has(key)) {
      this.#units.set(key, new Intl.NumberFormat(this.#language, { style: "unit", unit, unitDisplay: display }));
    }
    return this.#units.get(key).format(count);
  }

  number(value) {
    return new Intl.NumberFormat(this.#language, { maximumFractionDigits: 2 }).format(value);
  }

  percent(value) {
    return new Intl.NumberFormat(this.#language, { style: "percent" }).format(value);
  }

  // 1.25× in the language's digits.
  rate(value) {
    return `${this.number(value)}×`;
  }

  // A day and an hour; seconds since 1970.
  moment(seconds) {
    return new Intl.DateTimeFormat(this.#language, { dateStyle: "medium", timeStyle: "short" }).format(seconds * 1000);
  }

  // Artists, one by one.
  list(texts) {
    return new Intl.ListFormat(this.#language, { type: "unit", style: "short" }).format(texts);
  }
}
