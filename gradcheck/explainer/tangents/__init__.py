"""How values change along a direction: forward mode, and the Hessian times a direction.

In the order of imports: tangent_rules · tree_tangent · tangent_chain · one_step, second_form ·
tangent_page, tangent_proof · along.
"""
