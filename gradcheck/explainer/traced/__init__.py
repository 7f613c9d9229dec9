"""Functions and layers, explained: called once, watched, and every op read as a step.

In the order of imports: code_to_run, called_functions, branches · ran_ops · op_given, same_draws,
real_view, op_rules, ops_by_source · op_texts, opaque_steps, composite_steps · fourier_rules,
complex_functions · complex_rules · complex_steps · closed_steps · traced_graph ·
structured_inputs, traced_page, traced_proof · own_gradients · traced_answer · asked_code.
"""
