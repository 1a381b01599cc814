from objpert_core.experiments.quadratic.spectrum import Spectrum

spectrum = Spectrum(SIZE, DEGREES, DELTA, seed=SEED)
eigenvalues = spectrum.eigenvalues()
print(spectrum.alpha, spectrum.beta, eigenvalues.min(), eigenvalues.max())
