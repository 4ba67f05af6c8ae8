# Untested: Homebrew is not part of the project's tests. The formula is for Linux.
class Candor < Formula
  desc "Storage benchmark that reports whether to believe its numbers"
  homepage "https://candor.example"
  url "https://candor.example/candor-0.1.0-source.tar.gz"
  # Replace by the line of SHA256SUMS.
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build
  depends_on :linux

  def install
    system "cargo", "install", *std_cargo_args(path: "crates/candor")
    generate_completions_from_executable(bin/"candor", "completions")
    system bin/"candor", "man", man1
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/candor --version")
  end
end
