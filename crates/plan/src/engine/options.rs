//! Options of engines, each declared once with its default.

/// A structure of options, with its defaults as a constant: [`super::Engine::ALL`] and patterns
/// need one, and a derived `Default` is a function.
macro_rules! engine_options {
    ($(#[$about:meta])* $name:ident {
        $($(#[$field_about:meta])* $field:ident: $kind:ty = $default:expr,)*
    }) => {
        $(#[$about])*
        #[serde_with::skip_serializing_none]
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq,
            serde::Serialize, serde::Deserialize, schemars::JsonSchema,
        )]
        #[cfg_attr(test, derive(arbitrary::Arbitrary))]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $($(#[$field_about])* pub $field: $kind,)*
        }

        impl $name {
            /// The defaults of all options.
            pub const DEFAULT: $name = $name { $($field: $default,)* };
        }

        impl Default for $name {
            fn default() -> Self {
                $name::DEFAULT
            }
        }
    };
}

pub(super) use engine_options;
