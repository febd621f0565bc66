class Endpoints: ...


relu_rf = relu_ntk = step_rf = power_exponential = None
