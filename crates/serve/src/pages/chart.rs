//! Charts as inline SVG: drawn by the server, coloured by the stylesheet, told in words to whoever does
//! not see them.

use maud::{Markup, html};

use super::words;

/// One column of a chart over time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Column {
    /// What stands below it.
    pub(super) label: String,
    /// Runs whose output is valid.
    pub(super) valid: u64,
    /// Runs whose output is not.
    pub(super) failed: u64,
}

/// Draws how a rate moved, small enough for a cell; `told` says it in words.
pub(super) fn spark(rates: &[f64], told: &str) -> Markup {
    const WIDTH: f64 = 112.0;
    const HEIGHT: f64 = 26.0;

    let highest = rates.iter().copied().fold(0.05, f64::max);
    let points = curve(rates, highest, WIDTH, HEIGHT);
    let last = points.last().copied();
    let line = polyline(&points);
    html! {
        svg.chart.spark role="img" aria-label=(told) width="92" height="22" viewBox="0 0 112 26" {
            title { (told) }
            @if points.len() > 1 {
                polygon.under points=(format!("0,{HEIGHT} {line} {WIDTH},{HEIGHT}")) {}
                polyline.curve points=(line) {}
            }
            @if let Some((x, y)) = last {
                circle.dot cx=(short(x.min(WIDTH - 2.0))) cy=(short(y.clamp(2.0, HEIGHT - 2.0))) r="2" {}
            }
        }
    }
}

/// Draws a line over time, with its scale; `write` says what a height means.
pub(super) fn line(values: &[(String, f64)], told: &str, write: impl Fn(f64) -> String) -> Markup {
    const WIDTH: f64 = 640.0;
    const HEIGHT: f64 = 132.0;

    let heights: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
    let highest = ceiling(heights.iter().copied().fold(0.0, f64::max));
    let points = curve(&heights, highest, WIDTH, HEIGHT);
    let drawn = polyline(&points);
    html! {
        svg.chart role="img" aria-label=(told) viewBox="0 0 700 162" width="100%" {
            title { (told) }
            (grid(highest, WIDTH, HEIGHT, &write))
            @if points.len() > 1 {
                polygon.under points=(format!("0,{HEIGHT} {drawn} {WIDTH},{HEIGHT}")) {}
                polyline.curve points=(drawn) {}
            }
            @if let [(x, y)] = points.as_slice() { circle.dot cx=(short(*x)) cy=(short(*y)) r="3" {} }
            (labels(values.iter().map(|(label, _)| label.as_str()), WIDTH, HEIGHT))
        }
    }
}

/// Draws columns over time: valid below, failed on top.
pub(super) fn columns(columns: &[Column], told: &str) -> Markup {
    const WIDTH: f64 = 640.0;
    const HEIGHT: f64 = 132.0;

    let tallest = columns.iter().map(|it| it.valid.saturating_add(it.failed)).max().unwrap_or(0);
    let highest = ceiling(real(tallest));
    let pitch = WIDTH / real(u64::try_from(columns.len().max(1)).unwrap_or(1));
    let width = (pitch * 0.72).clamp(1.0, 34.0);
    html! {
        svg.chart role="img" aria-label=(told) viewBox="0 0 700 162" width="100%" {
            title { (told) }
            (grid(highest, WIDTH, HEIGHT, &|it| format!("{it:.0}")))
            @for (index, column) in columns.iter().enumerate() {
                @let x = place(index) * pitch + (pitch - width) / 2.0;
                @let valid = real(column.valid) / highest * HEIGHT;
                @let failed = real(column.failed) / highest * HEIGHT;
                @if column.valid > 0 {
                    rect.ok x=(short(x)) y=(short(HEIGHT - valid)) width=(short(width)) height=(short(valid)) rx="1.5" {}
                }
                @if column.failed > 0 {
                    rect.ko x=(short(x)) y=(short(HEIGHT - valid - failed)) width=(short(width)) height=(short(failed)) rx="1.5" {
                        title { (column.label) ": " (column.failed) " failed of " (column.valid + column.failed) }
                    }
                }
            }
            line.base x1="0" y1="132" x2="640" y2="132" {}
            (labels(columns.iter().map(|it| it.label.as_str()), WIDTH, HEIGHT))
        }
    }
}

/// Draws a share as a bar, with the interval that holds the true one.
pub(super) fn rate(low: f64, rate: f64, high: f64) -> Markup {
    let percent = |share: f64| format!("{}%", short(share.clamp(0.0, 1.0) * 100.0));
    let told = format!(
        "{}, between {} and {}",
        words::percent(rate),
        words::percent(low),
        words::percent(high)
    );
    html! {
        svg.chart role="img" aria-label=(told) width="84" height="12" {
            title { (told) }
            rect.track x="0" y="3" width="100%" height="6" rx="3" {}
            rect.ko x="0" y="3" width=(percent(rate)) height="6" rx="3" {}
            line.whisker x1=(percent(low)) x2=(percent(high)) y1="6" y2="6" {}
            line.whisker x1=(percent(low)) x2=(percent(low)) y1="3" y2="9" {}
            line.whisker x1=(percent(high)) x2=(percent(high)) y1="3" y2="9" {}
        }
    }
}

/// Draws a share as a plain bar.
pub(super) fn share(share: f64, width: u32, told: &str) -> Markup {
    let filled = format!("{}%", short(share.clamp(0.0, 1.0) * 100.0));
    html! {
        svg.chart role="img" aria-label=(told) width=(width) height="8" {
            title { (told) }
            rect.track x="0" y="1" width="100%" height="6" rx="3" {}
            rect.ok x="0" y="1" width=(filled) height="6" rx="3" {}
        }
    }
}

/// Draws checks from the oldest to the newest, each a stroke of its tone.
pub(super) fn strip(tones: &[&'static str], told: &str) -> Markup {
    let width = 5 * tones.len();
    html! {
        svg.chart.strip role="img" aria-label=(told) width=(width) height="18" {
            title { (told) }
            @for (index, tone) in tones.iter().enumerate() {
                rect class=(tone) x=(index * 5) y="1" width="4" height="16" rx="1" {}
            }
        }
    }
}

fn grid(highest: f64, width: f64, height: f64, write: &impl Fn(f64) -> String) -> Markup {
    html! {
        @for part in [0.0, 0.5, 1.0] {
            @let y = height - part * (height - 4.0);
            line.grid x1="0" x2=(short(width)) y1=(short(y)) y2=(short(y)) {}
            text x=(short(width + 8.0)) y=(short(y + 4.0)) { (write(highest * part)) }
        }
    }
}

/// Writes at most eight labels, so that they do not run into each other.
fn labels<'l>(labels: impl ExactSizeIterator<Item = &'l str>, width: f64, height: f64) -> Markup {
    let count = labels.len().max(1);
    let every = count.div_ceil(8);
    let pitch = width / place(count);
    html! {
        @for (index, label) in labels.enumerate() {
            @if index.is_multiple_of(every) {
                text x=(short((place(index) + 0.5) * pitch)) y=(short(height + 20.0)) text-anchor="middle" { (label) }
            }
        }
    }
}

fn curve(values: &[f64], highest: f64, width: f64, height: f64) -> Vec<(f64, f64)> {
    let steps = place(values.len().saturating_sub(1)).max(1.0);
    let point = |(index, value): (usize, &f64)| {
        let x = place(index) / steps * width;
        (x, height - (value / highest).clamp(0.0, 1.0) * (height - 4.0))
    };
    values.iter().enumerate().map(point).collect()
}

fn polyline(points: &[(f64, f64)]) -> String {
    let points: Vec<String> =
        points.iter().map(|(x, y)| format!("{},{}", short(*x), short(*y))).collect();
    points.join(" ")
}

/// Returns the round number at or above `value`: 1, 2 or 5 times a power of ten.
fn ceiling(value: f64) -> f64 {
    if !value.is_finite() || value <= 0.0 {
        return 1.0;
    }
    let power = 10_f64.powf(value.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .map(|step| step * power)
        .into_iter()
        .find(|it| *it >= value)
        .unwrap_or(value)
}

fn short(number: f64) -> String {
    let number = if number.is_finite() { number } else { 0.0 };
    format!("{number:.1}")
}

fn place(index: usize) -> f64 {
    real(u64::try_from(index).unwrap_or(u64::MAX))
}

#[expect(clippy::cast_precision_loss, reason = "a chart needs no more than 53 bits")]
fn real(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_end_at_round_numbers() {
        let ends = [0.0, 0.03, 1.0, 7.0, 101.0, f64::NAN, f64::INFINITY]
            .map(|most| format!("{:.2}", ceiling(most)));
        assert_eq!(ends, ["1.00", "0.05", "1.00", "10.00", "200.00", "1.00", "1.00"]);
    }

    #[test]
    fn charts_of_nothing_and_of_one_are_drawn() {
        let column = Column { label: "a<b".to_owned(), valid: 1, failed: 2 };
        for drawn in [
            spark(&[], "none"),
            spark(&[0.5], "one"),
            line(&[], "none", |it| it.to_string()),
            columns(&[], "none"),
            columns(&[column], "one"),
            strip(&[], "none"),
            rate(0.0, f64::NAN, 2.0),
        ] {
            let drawn = drawn.into_string();
            assert!(drawn.starts_with("<svg") && !drawn.contains("a<b"), "{drawn}");
        }
    }
}
