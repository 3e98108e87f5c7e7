//! Tests of the panes.
