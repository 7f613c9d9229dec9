"""Gradients in somebody's tests: an assertion, and the plugin for pytest.

assertion and variants are for whoever writes a test; pytest loads plugin, by its entry point, with
every run on a machine that has gradcheck: it imports nothing that costs, and the rest when there
is a spec or a test that asks for it. In the order assertion, variants, recognise; run_case;
fixture, spec_items; plugin each imports from those before it alone.
"""
