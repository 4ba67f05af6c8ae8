//! PMIx, by the library that the launcher has brought: loaded at run time, for nothing of MPI is
//! linked. Open MPI's mpirun and Slurm speak it.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::mem::MaybeUninit;

/// Names under which the library is found.
const LIBRARIES: [&CStr; 2] = [c"libpmix.so.2", c"libpmix.so"];
/// Longest name of a job.
const NAMESPACE_MAX: usize = 255;
/// All processes of the job (`PMIX_RANK_WILDCARD`).
const ALL_RANKS: u32 = u32::MAX - 1;
/// Everybody gets it (`PMIX_GLOBAL`).
const GLOBAL: u8 = 3;
/// A value that is a text (`PMIX_STRING`).
const STRING: u16 = 3;
/// Success.
const OK: c_int = 0;

/// Why texts could not be exchanged.
pub enum Failed {
    /// There is no library of it.
    NoLibrary,
    /// A call that failed, in a few words.
    Refused(String),
}

/// A process (`pmix_proc_t`).
#[repr(C)]
struct Process {
    namespace: [c_char; NAMESPACE_MAX + 1],
    rank: u32,
}

/// A value (`pmix_value_t`): a union of 24 bytes behind its kind.
#[repr(C)]
struct Value {
    kind: u16,
    text: *mut c_char,
    _rest: [u64; 2],
}

type Init = unsafe extern "C" fn(*mut Process, *mut c_void, usize) -> c_int;
type Put = unsafe extern "C" fn(u8, *const c_char, *mut Value) -> c_int;
type Commit = unsafe extern "C" fn() -> c_int;
type Fence = unsafe extern "C" fn(*const Process, usize, *const c_void, usize) -> c_int;
type Get = unsafe extern "C" fn(
    *const Process,
    *const c_char,
    *const c_void,
    usize,
    *mut *mut Value,
) -> c_int;
type Finalize = unsafe extern "C" fn(*const c_void, usize) -> c_int;

/// The functions that are called.
struct Library {
    init: Init,
    put: Put,
    commit: Commit,
    fence: Fence,
    get: Get,
    finalize: Finalize,
}

impl Library {
    fn load() -> Option<Library> {
        // SAFETY: the names are C strings. The library stays loaded, so that its functions do.
        let handle = LIBRARIES.iter().find_map(|name| unsafe {
            let handle = libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL);
            (!handle.is_null()).then_some(handle)
        })?;
        let symbol = |name: &CStr| {
            // SAFETY: the handle is that of a loaded library, the name a C string.
            let address = unsafe { libc::dlsym(handle, name.as_ptr()) };
            (!address.is_null()).then_some(address)
        };
        // SAFETY: the functions have these types in every version of the standard since 2; a
        // pointer to a function is as large as any other here.
        unsafe {
            Some(Library {
                init: std::mem::transmute::<*mut c_void, Init>(symbol(c"PMIx_Init")?),
                put: std::mem::transmute::<*mut c_void, Put>(symbol(c"PMIx_Put")?),
                commit: std::mem::transmute::<*mut c_void, Commit>(symbol(c"PMIx_Commit")?),
                fence: std::mem::transmute::<*mut c_void, Fence>(symbol(c"PMIx_Fence")?),
                get: std::mem::transmute::<*mut c_void, Get>(symbol(c"PMIx_Get")?),
                finalize: std::mem::transmute::<*mut c_void, Finalize>(symbol(c"PMIx_Finalize")?),
            })
        }
    }
}

/// Gives a text to all processes of the launcher, and takes theirs by rank.
pub fn exchange(size: u32, text: &str) -> Result<Vec<String>, Failed> {
    let library = Library::load().ok_or(Failed::NoLibrary)?;
    let mut own = MaybeUninit::<Process>::zeroed();
    // SAFETY: the library fills in the process, for which all zeros is a value, too.
    let (code, own) = unsafe {
        let code = (library.init)(own.as_mut_ptr(), std::ptr::null_mut(), 0);
        (code, own.assume_init())
    };
    done("PMIx_Init", code)?;
    let met = library.meet(&own, size, text);
    // SAFETY: it was initialised above, and is not used after this.
    let code = unsafe { (library.finalize)(std::ptr::null(), 0) };
    let texts = met?;
    done("PMIx_Finalize", code)?;
    Ok(texts)
}

impl Library {
    fn meet(&self, own: &Process, size: u32, text: &str) -> Result<Vec<String>, Failed> {
        let text = CString::new(text).map_err(|_| Failed::Refused("the text has a zero".into()))?;
        let mut value = Value { kind: STRING, text: text.as_ptr().cast_mut(), _rest: [0; 2] };
        // SAFETY: the key is a C string, and the library copies the value during the call.
        done("PMIx_Put", unsafe { (self.put)(GLOBAL, c"candor".as_ptr(), &raw mut value) })?;
        // SAFETY: the library is initialised.
        done("PMIx_Commit", unsafe { (self.commit)() })?;
        let all = Process { namespace: own.namespace, rank: ALL_RANKS };
        // SAFETY: one process is passed, and no options.
        done("PMIx_Fence", unsafe { (self.fence)(&raw const all, 1, std::ptr::null(), 0) })?;
        (0..size).map(|rank| self.text_of(&Process { rank, ..*own })).collect()
    }

    fn text_of(&self, of: &Process) -> Result<String, Failed> {
        let mut value: *mut Value = std::ptr::null_mut();
        // SAFETY: process and key live through the call, and the library sets the pointer.
        let code =
            unsafe { (self.get)(of, c"candor".as_ptr(), std::ptr::null(), 0, &raw mut value) };
        done("PMIx_Get", code)?;
        // SAFETY: after success it points to a value of the library's, which is left to it: the
        // process parts from the library right after.
        let text = unsafe {
            let value =
                value.as_ref().filter(|value| value.kind == STRING && !value.text.is_null());
            value.map(|value| CStr::from_ptr(value.text).to_string_lossy().into_owned())
        };
        text.ok_or_else(|| Failed::Refused("a process has put no text".into()))
    }
}

fn done(call: &str, code: c_int) -> Result<(), Failed> {
    match code {
        OK => Ok(()),
        code => Err(Failed::Refused(format!("{call} failed with {code}"))),
    }
}
