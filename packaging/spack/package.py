# Untested: Spack is not part of the project's tests.
from spack.package import *


class Candor(CargoPackage):
    """Storage benchmark that reports whether to believe its numbers."""

    homepage = "https://candor.example"
    url = "https://candor.example/candor-0.1.0-source.tar.gz"

    license("MIT OR Apache-2.0")

    # Replace by the line of SHA256SUMS.
    version("0.1.0", sha256="0000000000000000000000000000000000000000000000000000000000000000")

    depends_on("c", type="build")
    depends_on("rust@1.95:", type="build")

    requires("platform=linux", msg="candor runs on Linux only")

    @property
    def build_directory(self):
        return join_path(self.stage.source_path, "crates", "candor")
