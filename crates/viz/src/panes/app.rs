//! The app: text, runs, selection and focus. It hears keys and the session's events, and draws;
//! nothing here waits.

mod draw;
mod follow;

use super::look::Look;
use super::menu::Menu;
use super::run::{Row, Run, Start};
use super::view::{Ask, Nodes, View, image};
use super::{ALL, Pane, SCREENS, help};
use aplomb_ground::limits::Interrupt;
use aplomb_ground::protocol::{
    Client, Event, Failure, MimeBundle, Request, Status, Switches, TEXT,
};
use aplomb_ground::span::first_line;
use follow::ROWS;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::time::{Duration, Instant};

/// The terminal's next step after a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The loop goes on.
    Go,
    /// The whole screen is drawn anew.
    Redraw,
    /// The program goes to the background.
    Suspend,
    /// The panes close.
    Leave,
}

/// A pause in writing after which the program runs.
const PAUSE: Duration = Duration::from_millis(250);
/// Between two looks at another front end's session.
const LOOK: Duration = Duration::from_millis(100);
/// Code points of printed text that are kept.
const OUTPUT: usize = 1 << 18;

/// The panes over a session: text, runs, selection, focus.
pub struct App<C> {
    client: C,
    interrupt: Interrupt,
    look: Look,
    text: String,
    name: String,
    switches: Switches,
    menu: Menu,
    run: Run,
    /// The run that is under way.
    coming: Option<Run>,
    /// Another has to come after it.
    again: bool,
    /// The next run may write files.
    effects: bool,
    /// The number of runs so far.
    runs: u64,
    /// Runs of other texts that can be looked at again: only where texts come from another front
    /// end.
    kept: Vec<Run>,
    follows: bool,
    /// The trouble with the way there, in words.
    link: String,
    due: Option<Instant>,
    ledger: Vec<Row>,
    story: usize,
    pass: usize,
    selected: Nodes,
    lit: Nodes,
    panes: Vec<Box<dyn Pane>>,
    focus: usize,
    screen: usize,
    /// One pane alone, by `z`.
    alone: bool,
    /// The terminal has room for one pane.
    narrow: bool,
    /// The words of a search while they are typed.
    searching: Option<String>,
    sought: String,
    help: Option<usize>,
    note: String,
    gone: bool,
    /// Something is to be drawn.
    stale: bool,
}

impl<C: Client> App<C> {
    /// Opens the panes and begins the first run, or waits for one of another front end.
    pub fn new(client: C, interrupt: Interrupt, menu: Menu, start: Start) -> App<C> {
        let mut app = App {
            client,
            interrupt,
            menu,
            look: start.look,
            text: start.text,
            name: start.name,
            switches: start.switches,
            run: Run::default(),
            coming: None,
            again: false,
            effects: false,
            runs: 0,
            kept: Vec::new(),
            follows: start.follows,
            link: String::new(),
            due: None,
            ledger: Vec::new(),
            story: 0,
            pass: 0,
            selected: Nodes::new(),
            lit: Nodes::new(),
            panes: ALL.iter().map(|k| (k.new)()).collect(),
            focus: index("graph"),
            screen: 0,
            alone: false,
            narrow: false,
            searching: None,
            sought: String::new(),
            help: None,
            note: String::new(),
            gone: false,
            stale: true,
        };
        if !start.follows {
            app.start(start.effects);
        }
        app
    }

    /// The session again, once the panes are closed.
    pub fn into_client(mut self) -> C {
        if self.coming.take().is_some() && !self.follows {
            self.interrupt.set();
            while !matches!(self.client.recv(), None | Some(Event::Status(Status::Idle))) {
                self.interrupt.set();
            }
        }
        self.client
    }

    /// Runs what is written, or notes that it has to once the session is free. Files are written by
    /// a run that was asked for; what the panes begin by themselves leaves them alone.
    fn start(&mut self, effects: bool) {
        self.due = None;
        self.stale = true;
        if self.follows {
            return self.ask_again();
        }
        self.effects |= effects;
        if self.coming.is_some() {
            self.again = true;
            self.interrupt.set();
            return;
        }
        self.again = false;
        self.runs += 1;
        let run = Run {
            number: self.runs,
            name: self.name.clone(),
            text: self.text.clone(),
            switches: self.switches.clone(),
            effects: std::mem::take(&mut self.effects),
            ..Run::default()
        };
        let effects = run.effects;
        self.coming = Some(run);
        self.client.send(Request::Trace {
            code: self.text.clone(),
            name: self.name.clone(),
            switches: Some(self.switches.clone()),
            effects,
        });
    }

    /// Whether a run is under way.
    pub fn is_busy(&self) -> bool {
        self.coming.is_some()
    }

    /// The failure of the last run, if it had one.
    pub fn failure(&self) -> Option<&Failure> {
        self.run.failure.as_ref()
    }

    /// The time in which nothing happens by itself.
    pub fn patience(&self) -> Duration {
        let now = Instant::now();
        match (self.is_busy(), self.due) {
            (true, _) => Duration::from_millis(6),
            (false, _) if self.follows => LOOK,
            (false, Some(due)) => due.saturating_duration_since(now),
            (false, None) => Duration::from_secs(3_600),
        }
    }

    /// Whether something is to be drawn; it is then taken for drawn.
    pub fn take_stale(&mut self) -> bool {
        std::mem::take(&mut self.stale)
    }

    /// Hears what the session told, and starts what is due.
    pub fn advance(&mut self) {
        while self.coming.is_some() || self.follows && !self.gone {
            match self.client.poll() {
                Ok(Some(event)) => self.hear(event),
                Ok(None) => break,
                Err(_) => {
                    (self.coming, self.gone, self.stale) = (None, true, true);
                    self.note = "the session has ended; q leaves".into();
                }
            }
        }
        if self.again {
            self.interrupt.set();
        }
        if self.due.is_some_and(|due| due <= Instant::now()) {
            self.start(false);
        }
    }

    /// Starts what is due now and waits for the end of every run. For tests and benchmarks.
    pub fn settle(&mut self) {
        if self.due.is_some() {
            self.start(false);
        }
        while self.is_busy() {
            match self.client.recv() {
                Some(event) => self.hear(event),
                None => self.coming = None,
            }
        }
    }

    fn hear(&mut self, event: Event) {
        match event {
            Event::Begun { name, code, switches } => return self.begun(name, code, switches),
            Event::Link(says) => {
                (self.link, self.stale) = (says, true);
                return;
            }
            _ => {}
        }
        let Some(run) = &mut self.coming else { return };
        let mut print = |text: &str| {
            run.output += text;
            if run.output.len() > OUTPUT {
                let keep = run.output.chars().rev().take(OUTPUT / 8).collect::<Vec<_>>();
                run.output = keep.into_iter().rev().collect();
            }
        };
        match event {
            Event::Stream(text) | Event::Aside(text) => print(&text),
            Event::Display(bundle) | Event::Result(bundle) | Event::Named { page: bundle, .. } => {
                print(&ended(&bundle));
            }
            Event::Error(failure) => run.failure = Some(failure),
            Event::Trace(trace) => run.traces.push(*trace),
            Event::Withheld(what) => run.withheld.push(what),
            Event::Input(_) => {
                self.client.answer(None);
                self.note = "the program asks for a line: in the panes there is none".into();
            }
            Event::Status(Status::Idle) => self.finish(),
            _ => {}
        }
    }

    fn finish(&mut self) {
        let Some(mut run) = self.coming.take() else { return };
        self.stale = true;
        if self.again {
            return self.start(false);
        }
        run.close();
        let row = run.row();
        if self.follows {
            self.ledger.push(row);
            self.ledger.drain(..self.ledger.len().saturating_sub(ROWS));
            return self.come(run);
        }
        if self.run.text != run.text {
            self.ledger.clear();
        }
        match self.ledger.iter_mut().find(|r| r.switches == row.switches) {
            Some(known) => *known = row,
            None => self.ledger.push(row),
        }
        if !run.withheld.is_empty() {
            self.note =
                format!("left out: {}; r runs the program in full", run.withheld.join(", "));
        }
        self.adopt(run);
    }

    /// A run is shown: the same nodes as before are selected, by what they are or where they stand,
    /// after the same pass.
    fn adopt(&mut self, mut run: Run) -> Run {
        let old = self.view(false);
        let pass = old
            .passes()
            .get(old.pass)
            .filter(|_| old.pass + 1 < old.passes().len())
            .map(|p| p.name.clone());
        let chosen: Vec<_> =
            old.nodes().iter().filter(|n| self.selected.contains(&n.id)).cloned().collect();
        let statement = old.told().map(|(t, s)| (t.statement.clone(), s.id));
        // Half a word need not empty the panes.
        if !self.follows && run.stories() == 0 && run.failure.is_some() && self.run.stories() > 0 {
            (run.traces, run.stale) = (std::mem::take(&mut self.run.traces), true);
            run.close();
        }
        let before = std::mem::replace(&mut self.run, run);
        let same = |k: &usize| {
            self.run.story(*k).is_some_and(|(t, s)| {
                statement.as_ref().is_some_and(|(text, id)| (&t.statement, s.id) == (text, *id))
            })
        };
        let own = |k: &usize| self.run.story(*k).is_some_and(|(t, _)| self.run.owns(t));
        let mut all = 0..self.run.stories();
        let found = all.clone().find(|k| same(k) && own(k)).or_else(|| all.find(same));
        self.story = found.unwrap_or_else(|| self.run.best());
        let new = self.view(false);
        let last = new.passes().len().max(1) - 1;
        let at =
            pass.and_then(|name| new.passes().iter().position(|p| p.name == name)).unwrap_or(last);
        let again = |n: &&aplomb_ground::trace::NodeRecord| {
            chosen
                .iter()
                .any(|c| c.h == n.h || !c.span.is_empty() && c.span == n.span && c.op == n.op)
        };
        let selected: Nodes = new.nodes().iter().filter(again).map(|n| n.id).collect();
        self.pass = at;
        // Who writes keeps the cursor.
        self.select(selected, Some(index("source")));
        before
    }

    fn view(&self, focused: bool) -> View<'_> {
        View {
            run: &self.run,
            story: self.story,
            pass: self.pass,
            selected: &self.selected,
            lit: &self.lit,
            text: &self.text,
            name: &self.name,
            switches: &self.switches,
            menu: &self.menu,
            ledger: &self.ledger,
            busy: self.is_busy(),
            follows: self.follows,
            look: self.look,
            focused,
        }
    }

    /// Lights nodes; every pane but the one that asked brings them in sight.
    fn select(&mut self, nodes: Nodes, asked: Option<usize>) {
        self.lit = image(self.view(false).nodes(), &nodes);
        self.selected = nodes;
        self.with_panes(|panes, view| {
            panes
                .iter_mut()
                .enumerate()
                .filter(|(k, _)| Some(*k) != asked)
                .for_each(|(_, p)| p.follow(view));
        });
    }

    /// Panes and view at once.
    fn with_panes<T>(&mut self, work: impl FnOnce(&mut [Box<dyn Pane>], &View) -> T) -> T {
        let mut panes = std::mem::take(&mut self.panes);
        let done = work(&mut panes, &self.view(true));
        self.panes = panes;
        done
    }

    fn open(&mut self, story: usize, nodes: Nodes, asked: Option<usize>) {
        if story != self.story && story < self.run.stories() {
            self.story = story;
            self.pass = self.view(false).passes().len().max(1) - 1;
        }
        self.select(nodes, asked);
    }

    fn go_to_pass(&mut self, pass: usize, asked: Option<usize>) {
        self.pass = pass.min(self.view(false).passes().len().max(1) - 1);
        let passes = index("passes");
        self.with_panes(|panes, view| {
            if asked != Some(passes)
                && let Some(p) = panes.get_mut(passes)
            {
                p.follow(view);
            }
        });
    }

    fn answer(&mut self, ask: Ask, asked: usize) {
        match ask {
            Ask::Nothing => {}
            Ask::Select { story, nodes } => {
                self.open(story.unwrap_or(self.story), nodes, Some(asked))
            }
            Ask::Pass(pass) => self.go_to_pass(pass, Some(asked)),
            Ask::Edit(text) => {
                self.text = text;
                self.due = Some(Instant::now() + PAUSE);
            }
            // It has run while it was written; what it left out is done now.
            Ask::Run
                if self.text == self.run.text
                    && self.due.is_none()
                    && self.run.withheld.is_empty() => {}
            Ask::Run => self.start(true),
            Ask::Say(says) => self.note = says.into(),
            Ask::Preset(name) => {
                self.switches = Switches { preset: name.into(), off: Vec::new() };
                self.start(false);
            }
            Ask::Toggle(name) => {
                self.toggle(name);
                self.start(false);
            }
            Ask::Again(row) => {
                let Some(row) = self.ledger.get(row) else { return };
                if self.follows {
                    return self.turn_to(row.number);
                }
                self.switches = row.switches.clone();
                self.start(false);
            }
        }
    }

    fn toggle(&mut self, name: &'static str) {
        let members = self.menu.members(name);
        let on = self.menu.is_on(&self.switches.off, name);
        let off = &mut self.switches.off;
        off.retain(|o| !members.contains(&o.as_str()));
        if on {
            off.extend(members.iter().map(|m| m.to_string()));
            off.sort();
        }
    }

    /// Text that was pasted: written where the source is written, else nothing.
    pub fn paste(&mut self, text: &str) -> Step {
        for c in text.chars().filter(|c| *c != '\r') {
            let typing = self.panes.get(self.focus).is_some_and(|p| p.is_typing());
            if typing {
                let code = if c == '\n' { KeyCode::Enter } else { KeyCode::Char(c) };
                self.key(KeyEvent::new(code, KeyModifiers::NONE));
            }
        }
        Step::Go
    }

    /// The terminal has another size.
    pub fn resized(&mut self) -> Step {
        self.stale = true;
        Step::Go
    }

    /// Takes a key, and says what the loop does next.
    pub fn key(&mut self, key: KeyEvent) -> Step {
        if key.kind == KeyEventKind::Release {
            return Step::Go;
        }
        self.stale = true;
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('l') if control => return Step::Redraw,
            KeyCode::Char('z') if control => return Step::Suspend,
            KeyCode::Char('c') if control => {
                if self.follows {
                    self.note = "the notebook interrupts its own cells; q leaves".into();
                    return Step::Go;
                }
                self.note = if self.is_busy() {
                    "interrupted".into()
                } else {
                    "nothing runs; q leaves".into()
                };
                (self.again, self.effects, self.due) = (false, false, None);
                self.interrupt.set();
                return Step::Go;
            }
            _ => {}
        }
        self.note.clear();
        if let Some(top) = self.help {
            self.help = match key.code {
                KeyCode::Down | KeyCode::Char('j') => Some(top + 1),
                KeyCode::Up | KeyCode::Char('k') => Some(top.saturating_sub(1)),
                KeyCode::PageDown | KeyCode::Char(' ') => Some(top + help::PAGE),
                KeyCode::PageUp => Some(top.saturating_sub(help::PAGE)),
                _ => None,
            };
        } else if let Some(words) = self.searching.take() {
            self.type_search(words, key);
        } else if self.panes.get(self.focus).is_some_and(|p| p.is_typing()) || !self.own_key(key) {
            if key.code == KeyCode::Char('q')
                && !control
                && !self.panes.get(self.focus).is_some_and(|p| p.is_typing())
            {
                return Step::Leave;
            }
            let focus = self.focus;
            let ask =
                self.with_panes(|panes, view| panes.get_mut(focus).and_then(|p| p.key(key, view)));
            if let Some(ask) = ask {
                self.answer(ask, focus);
            }
        }
        Step::Go
    }

    /// Keys that mean the same in every pane.
    fn own_key(&mut self, key: KeyEvent) -> bool {
        if key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) {
            return false;
        }
        let switches = SCREENS.len() - 1;
        match key.code {
            KeyCode::Tab => self.turn(1),
            KeyCode::BackTab => self.turn(-1),
            KeyCode::Esc => self.select(Nodes::new(), None),
            KeyCode::Char('?') => self.help = Some(0),
            KeyCode::Char('/') => self.searching = Some(String::new()),
            KeyCode::Char('n') => self.search(true),
            KeyCode::Char('N') => self.search(false),
            KeyCode::Char('[') => self.go_to_pass(self.pass.saturating_sub(1), None),
            KeyCode::Char(']') => self.go_to_pass(self.pass + 1, None),
            KeyCode::Char('<') => self.tell_before(),
            KeyCode::Char('>') => self.tell_after(),
            KeyCode::Char('z') => self.alone = !self.alone,
            KeyCode::Char('r') => self.start(true),
            KeyCode::Char('t') => self.show(if self.screen == switches { 0 } else { switches }),
            KeyCode::Char(c) => match SCREENS.iter().position(|s| s.key == c) {
                Some(screen) => self.show(screen),
                None => return false,
            },
            _ => return false,
        }
        true
    }

    fn tell(&mut self, story: usize) {
        if story < self.run.stories() && story != self.story {
            self.open(story, Nodes::new(), None);
        }
        let n = self.run.stories();
        if n > 1 {
            let what = self
                .view(false)
                .told()
                .map_or(String::new(), |(t, _)| first_line(&t.statement).into());
            let cell = if self.follows { format!("{}, ", self.run.name) } else { String::new() };
            self.note = format!("{cell}evaluation {} of {n}: {what}", self.story + 1);
        }
    }

    fn show(&mut self, screen: usize) {
        self.screen = screen;
        self.focus =
            SCREENS[screen].columns.iter().flat_map(|c| c.1).next().map_or(0, |p| index(p.0));
    }

    /// The next pane of the screen; where one is shown at a time, of all.
    fn turn(&mut self, by: isize) {
        let own: Vec<usize> =
            SCREENS[self.screen].columns.iter().flat_map(|c| c.1).map(|p| index(p.0)).collect();
        let all: Vec<usize> = (0..ALL.len()).collect();
        let ring = if self.shows_one() { &all } else { &own };
        let at = ring.iter().position(|k| *k == self.focus).unwrap_or(0) as isize;
        self.focus = ring[(at + by).rem_euclid(ring.len() as isize) as usize];
    }

    fn type_search(&mut self, mut words: String, key: KeyEvent) {
        match key.code {
            KeyCode::Esc => return,
            KeyCode::Enter => {
                self.sought = words.to_lowercase();
                return self.search(true);
            }
            KeyCode::Backspace => drop(words.pop()),
            KeyCode::Char(c) => words.push(c),
            _ => {}
        }
        self.searching = Some(words);
    }

    fn search(&mut self, forward: bool) {
        if self.sought.is_empty() {
            self.note = "/ searches".into();
            return;
        }
        let (focus, words) = (self.focus, self.sought.clone());
        let found = self.with_panes(|panes, view| {
            panes.get_mut(focus).and_then(|p| p.find(&words, view, forward))
        });
        match found {
            Some(ask) => self.answer(ask, focus),
            None => self.note = format!("{words} is not in this pane"),
        }
    }
}

/// A pane's place in `ALL`, by its name in the table of screens.
fn index(name: &str) -> usize {
    let known = ALL.iter().position(|k| k.name == name);
    debug_assert!(known.is_some(), "no pane is called {name}");
    known.unwrap_or(0)
}

fn ended(bundle: &MimeBundle) -> String {
    let text = bundle.get(TEXT).map_or("", String::as_str);
    if text.is_empty() || text.ends_with('\n') { text.into() } else { format!("{text}\n") }
}
