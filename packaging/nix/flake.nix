# Untested: Nix is not part of the project's tests.
{
  description = "Storage benchmark that reports whether to believe its numbers";
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";
  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" ];
      each = nixpkgs.lib.genAttrs systems;
    in {
      packages = each (system:
        let pkgs = nixpkgs.legacyPackages.${system}; in {
          default = pkgs.rustPlatform.buildRustPackage {
            pname = "candor";
            version = "0.1.0";
            src = ../..;
            cargoLock.lockFile = ../../Cargo.lock;
            cargoBuildFlags = [ "-p" "candor" ];
            # Tests need root and devices.
            doCheck = false;
            nativeBuildInputs = [ pkgs.installShellFiles ];
            postInstall = ''
              for shell in bash zsh fish; do
                installShellCompletion --cmd candor --$shell <($out/bin/candor completions $shell)
              done
              $out/bin/candor man man && installManPage man/*
            '';
            meta.mainProgram = "candor";
          };
        });
    };
}
