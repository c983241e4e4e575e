//! Declares the part of Vulkan's C interface (`vulkan_core.h`) that lists the devices of a machine, and calls it.

use std::ffi::{CStr, c_char, c_void};
use std::{mem, ptr};

type Function = unsafe extern "system" fn();
/// `vkGetInstanceProcAddr`: the function of a name, for an instance or for none.
pub(crate) type GetInstanceProcAddr = unsafe extern "system" fn(Instance, *const c_char) -> Option<Function>;
type Instance = *mut c_void;
type PhysicalDevice = *mut c_void;
type CreateInstance = unsafe extern "system" fn(*const InstanceCreateInfo, *const c_void, *mut Instance) -> i32;
type EnumeratePhysicalDevices = unsafe extern "system" fn(Instance, *mut u32, *mut PhysicalDevice) -> i32;
type GetProperties = unsafe extern "system" fn(PhysicalDevice, *mut Properties);
type DestroyInstance = unsafe extern "system" fn(Instance, *const c_void);

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(transparent)]
pub(crate) struct PhysicalDeviceType(i32);

impl PhysicalDeviceType {
    pub(crate) const INTEGRATED_GPU: PhysicalDeviceType = PhysicalDeviceType(1);
    pub(crate) const DISCRETE_GPU: PhysicalDeviceType = PhysicalDeviceType(2);
    pub(crate) const CPU: PhysicalDeviceType = PhysicalDeviceType(4);
}

/// `VkInstanceCreateInfo`.
#[repr(C)]
struct InstanceCreateInfo {
    /// `VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO` is 1.
    structure_type: i32,
    next: *const c_void,
    flags: u32,
    application: *const c_void,
    layer_count: u32,
    layers: *const *const c_char,
    extension_count: u32,
    extensions: *const *const c_char,
}

/// `VkPhysicalDeviceProperties`. It has 824 bytes; `rest` has room for more than those that are not read.
#[repr(C)]
pub(crate) struct Properties {
    api_version: u32,
    pub(crate) driver_version: u32,
    vendor_id: u32,
    device_id: u32,
    pub(crate) device_type: PhysicalDeviceType,
    /// The device's name, which ends with a zero byte.
    pub(crate) device_name: [u8; 256],
    rest: [u64; 128],
}

/// Vulkan's names of the errors of the two functions that can fail.
#[rustfmt::skip]
pub(crate) const ERRORS: [(i32, &str); 6] = [
    (-1, "ERROR_OUT_OF_HOST_MEMORY"), (-2, "ERROR_OUT_OF_DEVICE_MEMORY"), (-3, "ERROR_INITIALIZATION_FAILED"),
    (-6, "ERROR_LAYER_NOT_PRESENT"), (-7, "ERROR_EXTENSION_NOT_PRESENT"), (-9, "ERROR_INCOMPATIBLE_DRIVER"),
];

/// The properties of all devices; Vulkan's error code where it cannot list them.
///
/// # Safety
/// `get` is the function of a loader which stays loaded.
pub(crate) unsafe fn physical_devices(get: GetInstanceProcAddr) -> Result<Vec<Properties>, i32> {
    // SAFETY: every function has the type that Vulkan fixes for its name, all structures are valid for the calls and as
    // large as the calls write, and nothing made with the instance is used after its end.
    unsafe {
        let function = |instance, name: &CStr| get(instance, name.as_ptr()).ok_or(-3);
        let create: CreateInstance = mem::transmute(function(ptr::null_mut(), c"vkCreateInstance")?);
        // It asks for no layer and no extension.
        let info = InstanceCreateInfo { structure_type: 1, ..mem::zeroed() };
        let mut instance = ptr::null_mut();
        checked(create(&raw const info, ptr::null(), &raw mut instance))?;
        let destroy: DestroyInstance = mem::transmute(function(instance, c"vkDestroyInstance")?);
        let listed = (|| {
            let list: EnumeratePhysicalDevices = mem::transmute(function(instance, c"vkEnumeratePhysicalDevices")?);
            let describe: GetProperties = mem::transmute(function(instance, c"vkGetPhysicalDeviceProperties")?);
            let mut count = 0;
            checked(list(instance, &raw mut count, ptr::null_mut()))?;
            let mut devices = vec![ptr::null_mut(); count as usize];
            checked(list(instance, &raw mut count, devices.as_mut_ptr()))?;
            let mut properties: Vec<Properties> = devices.iter().map(|_| mem::zeroed()).collect();
            devices.into_iter().take(count as usize).zip(&mut properties).for_each(|(device, to)| describe(device, to));
            properties.truncate(count as usize);
            Ok(properties)
        })();
        destroy(instance, ptr::null());
        listed
    }
}

/// `Err` with Vulkan's `code` if that is negative, which means a failure.
fn checked(code: i32) -> Result<(), i32> {
    if code < 0 { Err(code) } else { Ok(()) }
}
