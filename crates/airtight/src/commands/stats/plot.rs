//! A plot of failure rates: bars with their intervals, as plain SVG for light and dark pages.

use std::fmt::Write as _;

use airtight_store::Stat;

const ROW: usize = 28;
const LABELS: usize = 240;
const WIDTH: usize = 400;
const TOP: usize = 40;
/// How many characters of a label fit.
const LABEL_CHARS: usize = 32;

const STYLE: &str = "\
text{font:13px system-ui,sans-serif;fill:#1f2328}.dim{fill:#6e7781}.bar{fill:#0969da}\
.whisker{stroke:#1f2328;stroke-width:1.5}.grid{stroke:#d0d7de}\
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.dim{fill:#8d96a0}.bar{fill:#4493f8}\
.whisker{stroke:#e6edf3}.grid{stroke:#30363d}}";

/// Draws the failure rate of each group, with its interval.
pub(super) fn svg(groups: &[(String, &Stat)]) -> String {
    let height = TOP + ROW * groups.len() + 16;
    let width = LABELS + WIDTH + 110;
    let mut out = String::new();
    // Writing to a string cannot fail.
    let mut draw = |piece: std::fmt::Arguments<'_>| out.write_fmt(piece).unwrap_or_default();
    draw(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n\
         <title>Failure rate of runs, with 95 % intervals</title>\n<style>{STYLE}</style>\n"
    ));
    for tenth in [0_u32, 25, 50, 75, 100] {
        let x = place(f64::from(tenth) / 100.0);
        draw(format_args!(
            "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{}\"/>\
             <text class=\"dim\" x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{tenth} %</text>\n",
            height - 16,
            TOP - 10
        ));
    }
    for (index, (label, stat)) in groups.iter().enumerate() {
        let y = TOP + ROW * index;
        let (start, end) = (place(0.0), place(stat.failure.rate));
        let (low, high) = (place(stat.failure.low), place(stat.failure.high));
        let middle = y + ROW / 2;
        draw(format_args!(
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\
             <rect class=\"bar\" x=\"{start:.1}\" y=\"{}\" width=\"{:.1}\" height=\"14\" rx=\"2\"/>\
             <line class=\"whisker\" x1=\"{low:.1}\" x2=\"{high:.1}\" y1=\"{middle}\" y2=\"{middle}\"/>\
             <text class=\"dim\" x=\"{}\" y=\"{}\">{:.1} % of {}</text>\n",
            LABELS - 10,
            middle + 4,
            escaped(label),
            y + 7,
            end - start,
            LABELS + WIDTH + 10,
            middle + 4,
            stat.failure.rate * 100.0,
            stat.runs
        ));
    }
    out.push_str("</svg>\n");
    out
}

fn place(rate: f64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "pixels are few")]
    let (left, width) = (LABELS as f64, WIDTH as f64);
    left + width * rate.clamp(0.0, 1.0)
}

/// Returns a label that is text and nothing else, wherever the plot is shown.
fn escaped(label: &str) -> String {
    let mut text: String = label.chars().take(LABEL_CHARS).collect();
    if label.chars().nth(LABEL_CHARS).is_some() {
        text.push('…');
    }
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            control if control.is_control() => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use airtight_store::wilson;

    use super::*;

    fn stat(failed: u64, runs: u64) -> Stat {
        Stat {
            group: Vec::new(),
            runs,
            failed,
            failure: wilson(failed, runs).unwrap(),
            p50_ms: 1.0,
            p95_ms: 1.0,
            attempts: runs,
            input_tokens: 0,
            output_tokens: 0,
            cost_usd: airtight_core::price::Cost::default(),
            unpriced: 0,
            early_cancels: 0,
            tokens_saved: 0,
            outcomes: BTreeMap::new(),
            rungs: BTreeMap::new(),
        }
    }

    #[test]
    fn a_plot_has_one_bar_for_each_group_and_no_markup_of_others() {
        let (one, other) = (stat(5, 10), stat(0, 10));
        let naughty = "<script>\u{1b}[2J\"&".to_owned();
        let drawn = svg(&[(naughty, &one), ("b".repeat(80), &other)]);
        assert_eq!(drawn.matches("class=\"bar\"").count(), 2);
        assert!(drawn.contains("50.0 % of 10") && drawn.contains("width=\"200.0\""), "{drawn}");
        assert!(!drawn.contains("<script") && !drawn.contains('\u{1b}'), "{drawn}");
        assert!(drawn.contains(&format!("{}…", "b".repeat(LABEL_CHARS))));
    }
}
