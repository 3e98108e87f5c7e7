//! The variables of the workspace, by the requests of the debugger protocol that read. Nothing is
//! ever stopped here: there are no breakpoints.
//!
//! The control socket asks while a cell may run, so the evaluator leaves a list behind after each.

use super::requests::text;
use aplomb_ground::protocol::{HTML, TEXT};
use jupyter_protocol::{JupyterMessageContent, UnknownMessage};
use serde_json::{Map, Value, json};
use std::sync::{Mutex, MutexGuard};

/// A name of the workspace, and what it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    pub name: String,
    /// Shape and dtype, or the text of a function.
    pub says: String,
    /// Array, function or operator.
    pub kind: &'static str,
}

/// The names after the last cell.
#[derive(Default)]
pub struct Variables(Mutex<Vec<Variable>>);

impl Variables {
    fn lock(&self) -> MutexGuard<'_, Vec<Variable>> {
        match self.0.lock() {
            Ok(all) => all,
            Err(broken) => broken.into_inner(),
        }
    }

    /// A cell has ended with these.
    pub fn set(&self, all: Vec<Variable>) {
        *self.lock() = all;
    }

    /// To `debug_request`. Commands that would stop a program are not there.
    pub fn answer(&self, content: &Map<String, Value>) -> JupyterMessageContent {
        let command = text(content, "command");
        let body = match command {
            "debugInfo" => Some(info()),
            "inspectVariables" => Some(json!({ "variables": self.all() })),
            "richInspectVariables" => {
                let arguments = content.get("arguments").and_then(Value::as_object);
                arguments.and_then(|a| self.one(text(a, "variableName")))
            }
            _ => None,
        };
        let seq = content.get("seq").map_or(json!(0), Value::clone);
        let message = match (&body, command) {
            (Some(_), _) => Value::Null,
            (None, "richInspectVariables") => json!("there is no such name"),
            (None, _) => json!(format!("{command} is not answered here: nothing is ever stopped")),
        };
        let (success, body) = (body.is_some(), body.map_or(json!({}), |body| body));
        let mut reply = json!({ "type": "response", "request_seq": seq, "seq": seq,
            "success": success, "command": command, "body": body });
        if !message.is_null() {
            reply["message"] = message;
        }
        JupyterMessageContent::UnknownMessage(UnknownMessage {
            msg_type: "debug_reply".into(),
            content: reply,
        })
    }

    fn all(&self) -> Vec<Value> {
        let row = |v: &Variable| {
            json!({ "name": v.name, "value": v.says, "type": v.kind, "evaluateName": v.name,
                "variablesReference": 0 })
        };
        self.lock().iter().map(row).collect()
    }

    fn one(&self, name: &str) -> Option<Value> {
        let found = self.lock().iter().find(|v| v.name == name).cloned()?;
        let says = format!("{} {}", found.name, found.says);
        let escaped = says.replace('&', "&amp;").replace('<', "&lt;");
        let html = format!("<pre>{escaped}</pre>");
        Some(json!({ "data": { TEXT: says, HTML: html }, "metadata": {} }))
    }
}

fn info() -> Value {
    json!({ "isStarted": false, "hashMethod": "Murmur2", "hashSeed": 0,
        "tmpFilePrefix": "", "tmpFileSuffix": ".apl", "breakpoints": [], "stoppedThreads": [],
        "richRendering": true, "exceptionPaths": [] })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(of: &Variables, content: Value) -> Value {
        let Value::Object(content) = content else { return Value::Null };
        match of.answer(&content) {
            JupyterMessageContent::UnknownMessage(reply) => reply.content,
            _ => Value::Null,
        }
    }

    #[test]
    fn names_are_listed_and_nothing_is_stopped() {
        let of = Variables::default();
        let kind = "function";
        of.set(vec![Variable { name: "f".into(), says: "{⍵<1}".into(), kind }]);
        let listed = ask(&of, json!({ "command": "inspectVariables", "seq": 3 }));
        assert_eq!((&listed["success"], &listed["request_seq"]), (&json!(true), &json!(3)));
        assert_eq!(listed["body"]["variables"][0]["value"], "{⍵<1}");
        let wanted = |name: &str| {
            let arguments = json!({ "variableName": name });
            json!({ "command": "richInspectVariables", "arguments": arguments })
        };
        let rich = ask(&of, wanted("f"));
        assert_eq!(rich["body"]["data"]["text/html"], "<pre>f {⍵&lt;1}</pre>");
        assert_eq!(ask(&of, wanted("g"))["success"], false);
        for odd in [json!({}), json!({ "command": 7 }), json!({ "command": "setBreakpoints" })] {
            assert_eq!(ask(&of, odd)["success"], false);
        }
    }
}
