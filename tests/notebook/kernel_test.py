"""jupyter_kernel_test with what a kernel of APL is asked."""
import unittest

import jupyter_kernel_test


class Aplomb(jupyter_kernel_test.KernelTests):
    kernel_name = "aplomb"
    language_name = "apl"
    file_extension = ".apl"
    code_hello_world = "⎕←'hello, world'"
    completion_samples = [
        {"text": "rho", "matches": {"⍴"}},
        {"text": "]da", "matches": {"]dag"}},
        {"text": "⎕js", "matches": {"⎕JSON"}},
    ]
    complete_code_samples = ["1", "f←{⍵}", "]dag {", ""]
    incomplete_code_samples = ["f←{", "(1+"]
    invalid_code_samples = ["'abc", "1+)"]
    code_generate_error = "1÷0"
    code_execute_result = [
        {"code": "6×7", "result": "42"},
        {"code": "2 3⍴⍳6", "result": "1 2 3\n4 5 6"},
    ]
    code_display_data = [
        {"code": "]dag +/⍳5", "mime": "text/html"},
        {"code": "]dag +/⍳5", "mime": "image/png"},
        {"code": "]dag +/⍳5", "mime": "application/vnd.aplomb.trace.v1+json"},
    ]
    code_stderr = "'x'⎕NPUT'/dev/stderr' 2"
    code_clear_output = "'text/plain'(⎕SHOW⍠'Clear' 1)'x'"
    supported_history_operations = ("tail", "range", "search")
    code_history_pattern = "6?7"
    code_inspect_sample = "⍴"


if __name__ == "__main__":
    unittest.main(verbosity=2)
