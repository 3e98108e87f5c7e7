use aplomb_kernel::session::*;
use aplomb_lang::protocol::*;
struct NoCommands;
impl Commands for NoCommands {
    fn run(&self, _l: &str, s: &mut Session, sink: &mut dyn Sink) -> Result<(), aplomb_lang::error::Error> {
        let t = s.trace_of(None)?;
        for k in 0..t.segments.len() {
            let g = aplomb_viz::find_pass(&t, k, None).unwrap();
            sink.event(Event::Stream(aplomb_viz::text::draw(&g, false)));
        }
        for d in &t.decisions {
            sink.event(Event::Stream(format!("  {}\n", d.text)));
        }
        for p in &t.passes {
            if let Some(v) = &p.view {
                sink.event(Event::Stream(format!("{}: {}\n", p.name, v)));
            }
        }
        for k in &t.kernels {
            sink.event(Event::Stream(format!("{}\n", k.cuda.as_ref().map_or("", |c| &c.text))));
        }
        Ok(())
    }
    fn complete(&self, _s: &str) -> Vec<Completion> {
        vec![]
    }
    fn help(&self, _t: &str) -> Option<String> {
        None
    }
}
struct S;
impl Sink for S {
    fn event(&mut self, e: Event) {
        match e {
            Event::Stream(t) => print!("{t}"),
            Event::Result(b) => print!("{}", b["text/plain"]),
            Event::Error(f) => println!("{}", f.report),
            _ => {}
        }
    }
    fn input(&mut self, _p: &str) -> Option<String> {
        None
    }
}
fn main() {
    let mut l = aplomb_lang::limits::Limits::default();
    l.bytes = aplomb_kernel::memory::default_budget();
    let mut s = Session::new(std::rc::Rc::new(NoCommands), l, 2);
    for a in std::env::args().skip(1) {
        let t = std::time::Instant::now();
        s.handle(Request::Execute { code: a, name: "line 1".into(), silent: false }, &mut S);
        eprintln!("{:?}", t.elapsed());
    }
}
