//! `aplomb microbench`: what a GPU's memory gives for each way in which threads lie beside what
//! they read, and what the model expects of it; without a GPU the model alone.
//!
//! Rows: BAS-02, BAS-03, BAS-04, BAS-20.

use crate::args::MicroArgs;
use crate::front::{INTERRUPTED, Settings, colours, on_session, print, width};
use crate::views::failed;
use aplomb_charts::Drawing;
use aplomb_devices::device::Wanted;
use aplomb_ground::chart::{Chart, Kind, Series, Theme};
use aplomb_kernel::files;
use aplomb_plans::micro::{Amount, Fit, Point, points};
use aplomb_plans::occupancy::{BYTES_PER_US, CYCLE_NS, PROCESSORS};
use aplomb_viz::tables::grid;
use aplomb_viz::why::wrapped;
use serde_json::{Value, json};

/// The points with what is known of each.
struct Found {
    /// The GPU's name; the sentence that says why there is none.
    device: Result<String, String>,
    points: Vec<Point>,
    measured: Option<Vec<f64>>,
    /// Fitted to what was measured, or as published.
    fit: Fit,
}

/// Runs it with the words of the command line.
pub fn run(settings: Settings, args: MicroArgs) -> i32 {
    on_session(settings, move |session| {
        let interrupt = session.interrupt();
        let points = points();
        let devices = session.core().devices();
        devices.want(Wanted::Cuda);
        let found = match devices.find() {
            Err(says) => {
                let fit = Fit::published(BYTES_PER_US / 1e3, CYCLE_NS, PROCESSORS);
                Found { device: Err(says.to_string()), points, measured: None, fit }
            }
            Ok(gpu) => match gpu.microbench(&points, Amount::WHOLE, &interrupt) {
                Err(says) => return failed(&format!("microbench: {says}")),
                Ok(None) => return INTERRUPTED,
                Ok(Some(measured)) => {
                    let Some(fit) = Fit::to(&points, &measured) else {
                        return failed("microbench: the model fits nothing that was measured");
                    };
                    Found { device: Ok(gpu.name()), points, measured: Some(measured), fit }
                }
            },
        };
        if let Some(path) = &args.out {
            let drawn = Drawing::of(&found.strides()).and_then(|drawing| drawing.svg());
            let written = drawn.and_then(|svg| {
                files::write_file(path, svg.as_bytes(), &interrupt)
                    .map_err(|e| e.parts().says.clone())
            });
            if let Err(says) = written {
                return failed(&says);
            }
        }
        match args.json {
            true => print(&format!("{:#}\n", found.json())),
            false => match found.text() {
                Ok(text) => print(&text),
                Err(says) => return failed(&says),
            },
        }
        0
    })
}

impl Found {
    /// Each point with what the model expects and what was measured.
    fn all(&self) -> impl Iterator<Item = (Point, f64, Option<f64>)> {
        let measured = |k: usize| self.measured.as_ref()?.get(k).copied();
        let told =
            move |(k, point): (usize, &Point)| (*point, self.fit.expected(*point), measured(k));
        self.points.iter().enumerate().map(told)
    }

    /// The measured figure of a point where there is one; else the model's.
    fn known(&self, wanted: Point) -> Option<f64> {
        let found = self.all().find(|(point, _, _)| *point == wanted);
        found.map(|(_, model, measured)| measured.unwrap_or(model))
    }

    /// Each layout of a block's items: the rate of stretches, and of turns.
    fn layouts(&self) -> Vec<(u64, f64, f64)> {
        let whole = self.points.iter().filter_map(|point| match *point {
            Point::Layout { items, is_block: true } => Some((
                items,
                self.known(*point)?,
                self.known(Point::Layout { items, is_block: false })?,
            )),
            _ => None,
        });
        whole.collect()
    }

    /// Bandwidth over strides: a line for each size of blocks, and the model's.
    fn strides(&self) -> Chart {
        let mut series: Vec<Series> = Vec::new();
        let mut add = |name: String, x: u64, y: f64| {
            let at = match series.iter().position(|s| s.name == name) {
                Some(at) => at,
                None => {
                    series.push(Series { name, ..Series::default() });
                    series.len() - 1
                }
            };
            series[at].x.push(x as f64);
            series[at].y.push(y);
        };
        for (point, model, measured) in self.all() {
            if let Point::Stride { stride, threads } = point {
                if let Some(rate) = measured {
                    add(format!("{threads} threads"), stride, rate);
                }
                if threads == 512 {
                    add("model".into(), stride, model);
                }
            }
        }
        let title = match &self.device {
            Ok(name) => format!("Bandwidth by stride: {name}"),
            Err(_) => "Bandwidth by stride: the model".into(),
        };
        Chart {
            kind: Kind::Lines,
            title,
            names: ["items between neighbouring threads".into(), "GB/s that are asked for".into()],
            logs: [true, true],
            dates: false,
            series,
            size: [760, 480],
            theme: Theme::default(),
        }
    }

    fn json(&self) -> Value {
        let of = |point: Point| match point {
            Point::Layout { items, is_block } => (
                "layout",
                json!({"items": items, "dealt": if is_block { "block" } else { "cyclic" }}),
            ),
            Point::Stride { stride, threads } => {
                ("stride", json!({"stride": stride, "threads": threads}))
            }
            Point::Banks { stride } => ("banks", json!({"stride": stride})),
        };
        let mut out = json!({
            "device": self.device.as_ref().ok(),
            "why": self.device.as_ref().err(),
            "fit": {
                "gb_per_s": self.fit.rate, "lines_gb_per_s": self.fit.line,
                "start_ns": self.fit.start, "request_ns": self.fit.request,
            },
            "layout": [], "stride": [], "banks": [],
        });
        for (point, model, measured) in self.all() {
            let (kind, mut row) = of(point);
            let unit = if kind == "banks" { "ns" } else { "gb_per_s" };
            let error = measured.map(|m| model / m - 1.0);
            row["model"] = json!({unit: model});
            row["measured"] = measured.map_or(Value::Null, |m| json!({unit: m}));
            row["error"] = json!(error);
            if let Value::Array(rows) = &mut out[kind] {
                rows.push(row);
            }
        }
        out
    }

    /// Tables and pictures for people. Errors: a sentence.
    fn text(&self) -> Result<String, String> {
        let head = match &self.device {
            Ok(name) => format!("{name}, measured; the model is fitted to it\n"),
            Err(says) => format!("the model alone: {says}\n"),
        };
        let cell = |x: f64| format!("{x:.0}");
        let mut rows =
            vec![words(&["items of a block", "in stretches", "in turns", "turns ÷ stretches"])];
        for (items, block, cyclic) in self.layouts() {
            let ratio = format!("{:.1}", cyclic / block);
            rows.push(vec![items.to_string(), cell(block), cell(cyclic), ratio]);
        }
        let layouts = grid(&rows, &[]);
        let banks = self.points.iter().filter_map(|p| match *p {
            Point::Banks { stride } => Some((stride, self.known(*p)?)),
            _ => None,
        });
        let (x, y) = banks.map(|(stride, ns)| (stride as f64, ns)).unzip();
        let banks = Chart {
            kind: Kind::Bars,
            title: String::new(),
            names: ["words between neighbouring threads".into(), "ns of a warp's read".into()],
            logs: [false, false],
            dates: false,
            series: vec![Series { name: String::new(), x, y }],
            size: [760, 480],
            theme: Theme::default(),
        };
        let across = width().clamp(40, 100);
        let picture =
            |chart: &Chart| Drawing::of(chart)?.text(across, 16, colours(&std::io::stdout()));
        let (strides, banks) = (picture(&self.strides())?, picture(&banks)?);
        let worst = |is: fn(&Point) -> bool| {
            let apart = self.all().filter(|(p, _, _)| is(p));
            apart
                .filter_map(|(_, model, m)| Some((model / m? - 1.0).abs()))
                .fold(None, |w, e| Some(e.max(w.unwrap_or(0.0))))
        };
        let apart = |what: &str, error: Option<f64>| {
            error.map_or(String::new(), |e| {
                format!(", the model is apart by up to {:.0} % {what}", e * 100.0)
            })
        };
        let strided = apart("there", worst(|p| matches!(p, Point::Stride { .. })));
        let banked = apart("there", worst(|p| matches!(p, Point::Banks { .. })));
        let Fit { rate, start, request, .. } = self.fit;
        let says = |text: String| wrapped(&text, 2, across);
        let dealt = says(
            "Global memory, GB/s that are asked for, by how a block's items are dealt out to its \
             threads"
                .into(),
        );
        let by_stride = says(format!("By stride: {rate:.0} GB/s side by side{strided}"));
        let shared = says(format!(
            "Shared memory by stride: a warp's read takes {start:.2} + {request:.2} × n ns, where \
             n threads meet in a bank{banked}"
        ));
        Ok(format!("{head}\n{dealt}\n\n{layouts}\n{by_stride}\n\n{strides}\n{shared}\n\n{banks}"))
    }
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|w| w.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// BAS-02, BAS-03, BAS-04: where there is a GPU each point has both figures and the error of
    /// the model, which the tables sum up.
    #[test]
    fn bas_04_what_was_measured_is_told_beside_the_model() {
        let points = points();
        let published = Fit::published(BYTES_PER_US / 1e3, CYCLE_NS, PROCESSORS);
        let apart = |k: usize| 0.9 + (k % 5) as f64 / 20.0;
        let measured: Vec<f64> =
            points.iter().enumerate().map(|(k, p)| published.expected(*p) * apart(k)).collect();
        let fit = Fit::to(&points, &measured).expect("a fit");
        let device = Ok("a GPU".to_string());
        let found = Found { device, points, measured: Some(measured.clone()), fit };
        let json = found.json();
        assert_eq!((json["device"].as_str(), json["why"].is_null()), (Some("a GPU"), true));
        let rows = |kind: &str| json[kind].as_array().expect("rows").clone();
        assert_eq!((rows("layout").len(), rows("stride").len(), rows("banks").len()), (10, 35, 33));
        let mut worst = 0.0f64;
        for (kind, unit) in [("layout", "gb_per_s"), ("stride", "gb_per_s"), ("banks", "ns")] {
            for row in rows(kind) {
                let of = |who: &str| row[who][unit].as_f64().expect("a figure");
                let error = row["error"].as_f64().expect("an error");
                assert!((error - (of("model") / of("measured") - 1.0)).abs() < 1e-12, "{row}");
                worst = worst.max(error.abs());
            }
        }
        assert!(worst > 0.0 && worst < 0.5, "{worst}");
        let text = found.text().expect("tables");
        assert!(text.starts_with("a GPU, measured; the model is fitted to it"), "{text}");
        assert_eq!(text.matches("the model is apart by up to").count(), 2, "{text}");
    }
}
