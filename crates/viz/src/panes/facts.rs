//! Launches: what each is estimated to cost and what it took; a line of one selects it.

use super::Pane;
use super::list::List;
use super::view::{Ask, View};
use crate::figures;
use aplomb_ground::error::{bytes, count, time};
use aplomb_ground::trace::{LaunchRecord, Ran};
use ratatui::text::{Line, Span};

#[derive(Default)]
pub struct Facts(List);

/// The facts of a launch: a head and what stands below it.
fn facts(k: &LaunchRecord) -> Vec<String> {
    let product = |list: &[u64; 3]| list.iter().fold(1u64, |a, b| a.saturating_mul(*b));
    let domain: Vec<String> = k.domain.iter().map(usize::to_string).collect();
    let moved = crate::figures::moved(k);
    let block: u64 = k.launch.block.iter().map(|n| u64::from(*n)).product();
    let registers = match (k.regs, k.occ) {
        (Some(n), _) => n.to_string(),
        (None, Some(_)) => "guessed".into(),
        (None, None) => "not known (NVRTC tells)".into(),
    };
    let spilled = k.spill.filter(|n| *n > 0).map_or(String::new(), |n| format!(", spills {n}"));
    let occupied = k.occ.map_or(String::new(), |o| format!(" · occupancy {:.0} %", o * 100.0));
    let least = k.fit.map_or("blocks: not known".into(), |[warps, blocks, registers, shared]| {
        format!("blocks min({blocks}, warps {warps}, registers {registers}, shared {shared})")
    });
    let on_gpu = k.ran.as_ref().filter(|r| r.device == "cuda");
    let took = match (&k.meas, on_gpu) {
        (None, _) => "not run".into(),
        (Some(m), Some(Ran { library: Some(by), slices, .. })) => {
            format!("{} on the GPU by {by}, slices: {slices}", time(m.us))
        }
        (Some(m), Some(ran)) => {
            let clock = if m.clock == "events" { "" } else { " by the host's clock" };
            format!("{} on the GPU{clock}, {} blocks, slices: {}", time(m.us), ran.grid, ran.slices)
        }
        (Some(m), None) => format!("{} on {}", time(m.us), count(m.threads as usize, "thread")),
    };
    vec![
        format!(
            "{} · {} over {}",
            k.name,
            k.skeleton,
            if domain.is_empty() { "a scalar".into() } else { domain.join(" ") }
        ),
        format!(
            "grid {} block {block} · shared {}",
            product(&k.launch.grid),
            bytes(u64::from(k.launch.smem))
        ),
        format!("registers {registers}{spilled}{occupied}"),
        least,
        format!(
            "reads {} writes {} · {:.1} flop/B",
            figures::read_of(k),
            bytes(k.est.w),
            k.est.flops as f64 / moved.max(1) as f64
        ),
        format!("estimated {} on the GPU, {} here", time(k.est.us), time(k.est.cpu_us)),
        format!("measured {took}"),
    ]
}

/// Lines of a launch.
const EACH: usize = 7;

impl Pane for Facts {
    fn title(&self, view: &View) -> String {
        view.launches().len().to_string()
    }

    fn lines(&self, view: &View, _width: usize) -> Vec<Line<'static>> {
        let chosen = view.launch().map(|k| k.id);
        let mut lines = Vec::new();
        for k in view.launches() {
            let lit = !view.lit.is_empty() && k.body.iter().any(|n| view.lit.contains(n));
            let here = Some(k.id) == chosen;
            for (row, text) in facts(k).into_iter().enumerate() {
                let mark = if row == 0 { view.look.mark(lit) } else { " " };
                let style = match row {
                    0 if lit => view.look.underlined(),
                    0 => view.look.head(),
                    _ if here => Default::default(),
                    _ => view.look.quiet(),
                };
                lines.push(Line::from(vec![
                    Span::raw(format!("{mark} ")),
                    Span::styled(text, style),
                ]));
            }
        }
        if lines.is_empty() { vec![Line::raw("no launch: the host computed it")] } else { lines }
    }

    fn list(&mut self) -> &mut List {
        &mut self.0
    }

    fn moved(&self, view: &View) -> Option<Ask> {
        let launch = view.launches().get(self.0.at / EACH)?;
        Some(Ask::Select { story: None, nodes: launch.body.iter().copied().collect() })
    }

    fn follow(&mut self, view: &View) {
        let own = view.launch().and_then(|k| view.launches().iter().position(|x| x.id == k.id));
        if let Some(k) = own.filter(|k| *k != self.0.at / EACH) {
            self.0.at = k * EACH;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// BAS-01: the blocks that are there at once, by the paper's formula with what bounds them now.
    #[test]
    fn bas_01_the_panel_shows_the_formula_of_occupancy() {
        let mut k = LaunchRecord { regs: Some(40), occ: Some(0.75), ..LaunchRecord::default() };
        k.fit = Some([8, 32, 6, 14]);
        k.launch.block = [256, 1, 1];
        let says = facts(&k);
        for wanted in
            ["registers 40 · occupancy 75 %", "blocks min(32, warps 8, registers 6, shared 14)"]
        {
            assert!(says.iter().any(|line| line == wanted), "{says:?}");
        }
        k.fit = None;
        assert!(facts(&k).iter().all(|line| !line.contains("min(")));
    }
}
